type SystemError = NodeJS.ErrnoException & {
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

/** What to tell a person about an error: the usual ones of the operating system as sentences that name the remedy. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, syscall, address, port, hostname, path }: SystemError = error
  // Workers bind what a single process listens at.
  if (syscall === 'listen' || syscall === 'bind') {
    const where = `${address?.includes(':') ? `[${address}]` : address}:${port}`
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
