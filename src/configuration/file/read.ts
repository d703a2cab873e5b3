import { Problem } from '../../errors.ts'
import { sectionKeys, type Entry, type SectionKey } from '../sections/section.ts'
import { parseFile, type ParsedFile } from './parse.ts'
import { parseAside } from './parse-aside.ts'
import { Place } from './place.ts'
import { fileSchema } from './schema.ts'

/** A file's text is no longer than this. */
export const maxFileBytes = 4 * 1024 * 1024

/** What a file says, thing by thing. */
export interface ConfigurationFile {
  /** The organization that it speaks of. */
  readonly slug: string
  readonly entries: Readonly<Record<SectionKey, ReadonlyMap<string, Entry>>>
  /** File, line and path of a thing, or of a field of it. */
  readonly where: (section: SectionKey, name: string, field?: string) => string
}

/** Reads a file strictly: `invalid_input` in one sentence with file, line and path. */
export function readFile(text: string, file: string): ConfigurationFile {
  refuseLarge(text, file)
  return toFile(parseFile(text), file)
}

/** The same on a node that has others to serve: a large file holds nobody up. */
export async function readFileAside(text: string, file: string): Promise<ConfigurationFile> {
  refuseLarge(text, file)
  return toFile(await parseAside(text), file)
}

function refuseLarge(text: string, file: string): void {
  if (Buffer.byteLength(text) <= maxFileBytes) return
  const mebibytes = maxFileBytes / 1024 / 1024
  throw new Problem('invalid_input', `${file} is larger than ${mebibytes} MiB.`)
}

function toFile(parsed: ParsedFile, file: string): ConfigurationFile {
  if ('fault' in parsed) {
    throw new Problem('invalid_input', `${file}:${parsed.line}: ${parsed.fault}.`)
  }
  const whole = new Place(file, '', { node: parsed.root })
  const value = whole.check(fileSchema) as Record<string, Record<string, Entry>>
  const { slug = '', ...organization } = value['organization'] as unknown as Record<string, string>
  const { key_defaults: keyDefaults } = value
  const own = {
    ...organization,
    ...(keyDefaults === undefined ? {} : { key_defaults: keyDefaults }),
  }
  const entries = Object.fromEntries(
    sectionKeys.map((key) => [key, new Map(Object.entries(value[key] ?? {}))]),
  ) as Record<SectionKey, Map<string, Entry>>
  entries.organization = new Map([[slug, own]])
  const places = whole.members()
  return {
    slug,
    entries,
    where: (section, name, field = '') => {
      const place = places.get(section)
      const thing = section === 'organization' ? place : place?.members().get(name)
      return thing?.at(field).where ?? file
    },
  }
}
