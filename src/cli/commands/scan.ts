import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readGitObjects } from '../lib/git-objects.ts'
import { BadFinding, command } from '../lib/command.ts'
import { createSecretFinder, type FoundSecret } from '../lib/secret-finder.ts'

interface Finding extends FoundSecret {
  /** The path of a file, or a repository's path and the name of a git object in it. */
  readonly place: string
}

export const commands = {
  '': command({
    usage: '<path>…',
    about:
      'find Intercept secrets in files, git history and built bundles; exit 1 where there are any',
    local: { because: 'it reads files of this machine', standsAlone: true },
    examples: ['intercept scan . ./dist'],
    run: async ({ positionals }) => {
      const findings: Finding[] = []
      let files = 0
      let objects = 0
      for (const path of positionals) {
        if (!existsSync(path)) throw new Error(`There is no ${path}.`)
        for (const file of filesBelow(path)) {
          files++
          findings.push(...(await scanFile(file)))
        }
        if (existsSync(join(path, '.git'))) {
          const history = await scanHistory(path)
          objects += history.objects
          findings.push(...history.findings)
        }
      }
      const answer = {
        data: { files, git_objects: objects, findings },
        text: render(findings, files, objects),
      }
      if (findings.length > 0) throw new BadFinding(answer)
      return answer
    },
  }),
}

/**
 * Lists a file, or the regular files below a folder. Links in the folder are not followed, and folders named `.git` are
 * left out.
 */
function* filesBelow(path: string): Generator<string> {
  if (statSync(path).isFile()) {
    yield path
    return
  }
  for (const name of readdirSync(path).toSorted()) {
    const inner = join(path, name)
    const kind = lstatSync(inner, { throwIfNoEntry: false })
    if (kind?.isDirectory() && name !== '.git') yield* filesBelow(inner)
    else if (kind?.isFile()) yield inner
  }
}

async function scanFile(file: string): Promise<Finding[]> {
  const finder = createSecretFinder()
  const findings: Finding[] = []
  for await (const piece of createReadStream(file)) {
    // A stream without an encoding yields buffers.
    for (const found of finder.push(piece as Buffer)) findings.push({ place: file, ...found })
  }
  return findings
}

async function scanHistory(path: string): Promise<{ objects: number; findings: Finding[] }> {
  const findings: Finding[] = []
  let objects = 0
  for await (const object of readGitObjects(path)) {
    objects++
    for (const found of object.found) {
      findings.push({ place: `${path} (git ${await nameObject(path, object.id)})`, ...found })
    }
  }
  return { objects, findings }
}

/**
 * Names an object by the newest commit that added or removed it, and its file; by its id if there is no such commit.
 */
async function nameObject(path: string, id: string): Promise<string> {
  const git = spawn(
    'git',
    ['-C', path, 'log', '--all', `--find-object=${id}`, '--format=%h', '--name-only', '-1'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  let out = ''
  git.stdout.on('data', (piece: Buffer) => {
    out += piece.toString()
  })
  await once(git, 'close')
  const [commit, , file] = out.split('\n')
  return commit ? `${commit} ${file ?? ''}`.trim() : `object ${id.slice(0, 12)}`
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function render(findings: readonly Finding[], files: number, objects: number): string {
  const looked = `${counted(files, 'file')}${objects > 0 ? ` and ${counted(objects, 'git object')}` : ''}`
  if (findings.length === 0) return `No Intercept secret in ${looked}.`
  return [
    ...findings.map(({ place, line, hint, kind }) => `${place}:${line}  ${hint}  ${kind}`),
    '',
    `${findings.length} in ${looked}. Whoever could read these places could use them: revoke or rotate each.`,
  ].join('\n')
}
