import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

export interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
}

/** Reads the files that match the patterns, sorted by path. */
export function readSources(patterns: readonly string[]): SourceFile[] {
  return globSync([...patterns], { cwd: root })
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, imports: importsOf(text) }
    })
}

/** Finds dynamic imports anywhere; finds other imports and re-exports only at the start of a line. */
function importsOf(text: string): Import[] {
  const found: Import[] = []
  const statements =
    /^(?:import|export)\s+(type\s+)?(?:[\w$]+|\*|\{)?[^'"()=;]*?\bfrom\s+['"]([^'"]+)['"]/gm
  for (const [, type, specifier = ''] of text.matchAll(statements)) {
    found.push({ specifier, typeOnly: type !== undefined })
  }
  for (const [, specifier = ''] of text.matchAll(/^import\s+['"]([^'"]+)['"]/gm)) {
    found.push({ specifier, typeOnly: false })
  }
  for (const [, specifier = ''] of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) {
    found.push({ specifier, typeOnly: false })
  }
  return found
}
