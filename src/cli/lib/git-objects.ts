import { spawn } from 'node:child_process'
import { createSecretFinder, type FoundSecret } from './secret-finder.ts'

interface ScannedObject {
  readonly id: string
  readonly found: readonly FoundSecret[]
}

/**
 * Reads every object in a repository, including those that no branch reaches, from git's output: `<id> <type> <size>`,
 * a line feed, the bytes, a line feed.
 */
export async function* readGitObjects(path: string): AsyncGenerator<ScannedObject> {
  const git = spawn('git', ['-C', path, 'cat-file', '--batch-all-objects', '--batch', '--buffer'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  git.on('error', () => git.stdout.destroy(new Error('git is not installed')))
  let head = Buffer.alloc(0)
  let current: { id: string; left: number } | undefined
  let finder = createSecretFinder()
  let found: FoundSecret[] = []

  for await (const chunk of git.stdout) {
    let piece = chunk as Buffer
    while (piece.length > 0) {
      if (current === undefined) {
        const end = piece.indexOf(10)
        if (end === -1) {
          head = Buffer.concat([head, piece])
          break
        }
        const [id = '', , size = '0'] = Buffer.concat([head, piece.subarray(0, end)])
          .toString('latin1')
          .trim()
          .split(' ')
        head = Buffer.alloc(0)
        piece = piece.subarray(end + 1)
        // The trailing line feed is read as part of the object; it can't complete a credential.
        current = { id, left: Number(size) + 1 }
        finder = createSecretFinder()
        found = []
      }
      const part = piece.subarray(0, current.left)
      found.push(...finder.push(part))
      current.left -= part.length
      piece = piece.subarray(part.length)
      if (current.left === 0) {
        yield { id: current.id, found }
        current = undefined
      }
    }
  }
}
