import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  createReadStream,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
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
      const read = new Set<string>()
      for (const path of positionals) {
        if (!existsSync(path)) throw new Error(`There is no ${path}.`)
        for (const file of filesBelow(path)) {
          files++
          findings.push(...(await scanFile(file)))
        }
        for (const repository of repositoriesBelow(path)) {
          const store = await objectStoreOf(repository)
          if (read.has(store)) continue
          read.add(store)
          const history = await scanHistory(repository)
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

/**
 * Lists this folder and the folders below it that have a `.git` of their own, which submodules and work trees have too.
 */
function* repositoriesBelow(path: string): Generator<string> {
  if (!statSync(path).isDirectory()) return
  if (existsSync(join(path, '.git'))) yield path
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== '.git') {
      yield* repositoriesBelow(join(path, entry.name))
    }
  }
}

/** Returns the folder that holds a repository's objects; work trees of one repository share it. */
async function objectStoreOf(path: string): Promise<string> {
  const out = await outputOfGit(path, ['rev-parse', '--git-common-dir'])
  const store = resolve(path, out.trim())
  return existsSync(store) ? realpathSync(store) : store
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
 * Names a git object: the newest commit that added or removed it, with the path of its file there. If no commit did, the
 * name is the object's id.
 */
async function nameObject(path: string, id: string): Promise<string> {
  const words = ['log', '--all', `--find-object=${id}`, '--format=%h', '--name-only', '-1']
  const [commit, , file] = (await outputOfGit(path, words)).split('\n')
  return commit ? `${commit} ${file ?? ''}`.trim() : `object ${id.slice(0, 12)}`
}

async function outputOfGit(path: string, words: readonly string[]): Promise<string> {
  const git = spawn('git', ['-C', path, ...words], { stdio: ['ignore', 'pipe', 'ignore'] })
  let out = ''
  git.stdout.on('data', (piece: Buffer) => {
    out += piece.toString()
  })
  try {
    await once(git, 'close')
  } catch (cause) {
    throw new Error('git is not installed', { cause })
  }
  return out
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
