type SystemError = NodeJS.ErrnoException & {
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

/** Explains an error to a person: common errors of the operating system and the database become plain sentences. */
export function sentenceOf(
  error: unknown,
  env: Readonly<Record<string, string | undefined>> = {},
  flags: Readonly<Record<string, unknown>> = {},
): string {
  if (!(error instanceof Error)) return String(error)
  // If a host name has several addresses, Node puts the error of each into one error that has no message.
  if (error instanceof AggregateError && error.message === '')
    return sentenceOf(error.errors[0], env, flags)
  const { code, syscall, address, port, hostname, path }: SystemError = error
  const where = `${address?.includes(':') ? `[${address}]` : address}:${port}`
  // This must be the database: a command that connects to another server reports the failure as a Problem instead.
  if (syscall === 'connect' && code === 'ECONNREFUSED' && port !== undefined)
    return `Nothing listens at ${where}; start the database, or mend DATABASE_URL.`
  const setting = 'port' in flags ? '--port' : settingOf(port, env)
  if (syscall === 'listen') {
    if (code === 'EADDRINUSE')
      return `Another program listens at ${where}; choose another port (${setting}).`
    if (code === 'EACCES')
      return `This user may not listen at ${where}; choose a port above 1023 (${setting}).`
    if (code === 'EADDRNOTAVAIL') return `${where} is not an address of this machine (HOST).`
  }
  if (code === 'ENOTFOUND' && hostname !== undefined) return `The name ${hostname} is not known.`
  if (syscall === 'mkdir') {
    if (code === 'EEXIST' || code === 'ENOTDIR')
      return `${path} is or crosses a file, not a folder.`
    if (code === 'ENOENT') return `No folder can be made at ${path}.`
    if (code === 'EACCES' || code === 'EROFS') return `This user may not make the folder ${path}.`
  }
  return fileSentence({ code, syscall, path }) ?? storeSentence(code) ?? error.message
}

function settingOf(port: number | undefined, env: Readonly<Record<string, string | undefined>>) {
  return env['METRICS_PORT'] === String(port) ? 'METRICS_PORT' : 'PORT'
}

function fileSentence(of: Pick<SystemError, 'code' | 'syscall' | 'path'>): string | undefined {
  const what = of.path ?? 'the file'
  if (of.code === 'ENOENT') return `There is no file or folder ${what}.`
  if (of.code === 'EACCES' || of.code === 'EPERM') return `This user may not use ${what}.`
  // Node's error for reading a folder as if it were a file does not name the path.
  if (of.code === 'EISDIR') return `Name a file, not a folder${of.path ? `: ${of.path}` : ''}.`
  if (of.code === 'ENOTDIR') return `${what} crosses a file where a folder belongs.`
  if (of.code === 'EEXIST') return `${what} exists already.`
  if (of.code === 'EROFS') return `${what} is on a disk that cannot be written.`
  return of.code === 'ENOSPC' ? 'The disk is full.' : undefined
}

function storeSentence(code: string | undefined): string | undefined {
  if (code === 'SQLITE_NOTADB') return 'The file intercept.db in DATA_DIR is not a database.'
  if (code?.startsWith('SQLITE_CANTOPEN') === true) {
    return 'The database in DATA_DIR cannot be opened; may this user read and write it?'
  }
  if (code?.startsWith('SQLITE_BUSY') === true) {
    return 'Another process keeps the database locked; try again.'
  }
  if (code === 'ECONNRESET') return 'The database broke off the connection; try again.'
  return code === 'ETIMEDOUT' ? 'The database did not answer in time (DATABASE_URL).' : undefined
}
