import { Problem } from '../../errors.ts'
import { sectionKeys, type Entry, type SectionKey } from '../sections/section.ts'
import { parseFile, type ParsedFile } from './parse.ts'
import { parseAside } from './parse-aside.ts'
import { Place } from './place.ts'
import { fileSchema } from './schema.ts'

export const maxFileBytes = 4 * 1024 * 1024

/** The content of a file, thing by thing. */
export interface ConfigurationFile {
  /** The organization that the file is about. */
  readonly slug: string
  readonly entries: Readonly<Record<SectionKey, ReadonlyMap<string, Entry>>>
  /** The file, line and path of a thing or one of its fields. */
  readonly where: (section: SectionKey, name: string, field?: string) => string
}

/** Parses a file strictly; throws `invalid_input` with a message that says where the error is. */
export function readFile(text: string, file: string): ConfigurationFile {
  refuseLarge(text, file)
  return toFile(parseFile(text), file)
}

/** Like `readFile`, but parses on a thread, so that a large file does not block the node. */
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
