import { LineCounter, parseDocument, visit, type Document } from 'yaml'
import { Problem } from '../../errors.ts'
import { sectionKeys, type Entry, type SectionKey } from '../sections/section.ts'
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
  if (Buffer.byteLength(text) > maxFileBytes) {
    throw new Problem('invalid_input', `${file} is larger than ${maxFileBytes / 1024 / 1024} MiB.`)
  }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, strict: true })
  refuseFaults(document, file)
  refuseAliases(document, { name: file, lines })
  const whole = new Place({ name: file, lines }, '', { node: document.contents })
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

function refuseFaults({ errors: [fault] }: Document.Parsed, file: string): void {
  if (fault === undefined) return
  const line = fault.linePos?.[0].line ?? 1
  // The parser quotes the file behind its sentence; what stands there may be a secret.
  const [sentence = ''] = fault.message.split(/ at line |\n/)
  throw new Problem('invalid_input', `${file}:${line}: ${sentence}.`)
}

/** Aliases are what small files grow to gigabytes with; nothing here needs them. */
function refuseAliases(
  document: Document.Parsed,
  file: { readonly name: string; readonly lines: LineCounter },
): void {
  visit(document, {
    Alias(_, node) {
      throw new Place(file, '', { node }).wrong('has an alias; write the value out')
    },
  })
}
