type SystemError = NodeJS.ErrnoException & {
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

/** What to tell a person about an error: the usual ones of the operating system as sentences that name the remedy. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Of a name with several addresses, Node tells each refusal, and no message of its own.
  if (error instanceof AggregateError && error.message === '') return sentenceOf(error.errors[0])
  const { code, syscall, address, port, hostname, path }: SystemError = error
  const where = `${address?.includes(':') ? `[${address}]` : address}:${port}`
  // The only server that a command connects to by itself is the database.
  if (syscall === 'connect' && code === 'ECONNREFUSED' && port !== undefined)
    return `Nothing listens at ${where}; start the database, or mend DATABASE_URL.`
  // Workers bind what a single process listens at.
  if (syscall === 'listen' || syscall === 'bind') {
    if (code === 'EADDRINUSE') return `Another program listens at ${where}; choose another port.`
    if (code === 'EACCES') return `This user may not listen at ${where}; choose a port above 1023.`
    if (code === 'EADDRNOTAVAIL') return `${where} is not an address of this machine (HOST).`
  }
  if (code === 'ENOTFOUND' && hostname !== undefined) return `The name ${hostname} is not known.`
  if (syscall === 'mkdir') {
    if (code === 'EEXIST' || code === 'ENOTDIR')
      return `${path} is or crosses a file, not a folder.`
    if (code === 'ENOENT') return `No folder can be made at ${path}.`
    if (code === 'EACCES' || code === 'EROFS') return `This user may not make the folder ${path}.`
  }
  return error.message
}
