import { permissions, type Permission } from '../../access/index.ts'
import {
  maxFileBytes,
  permissionFor,
  sectionKeys,
  type Difference,
  type SectionKey,
} from '../../configuration/index.ts'
import { Problem } from '../../errors.ts'
import { Type, type Static } from '../../http/index.ts'
import { isAllowed } from '../core/caller.ts'
import { route, type RouteOrganization } from '../core/route.ts'
import { limitOf, noCursor, pageOf, pageQuery, toPage } from '../core/paging.ts'
import { Confirmed, toConfirmed } from '../core/confirmed.ts'
import { input, nullable, oneOf, Time, timeOrNull } from '../core/schemas.ts'

const C = '/organizations/:organization/configuration'
const maxSecretLength = 8192
/** Enough characters for the ids of one page. */
const maxIdsLength = 8000
/** Room for the file as JSON text, and for the secrets behind its references. */
const maxBodyBytes = 2 * maxFileBytes

const FileBody = input({
  /** The file's YAML text. */
  file: Type.String({ minLength: 1 }),
  /** The file's name, which marks the things it manages. */
  label: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\x00-\\x1f]+$' }),
  /** Whether to remove things that the file manages but no longer names. */
  prune: Type.Optional(Type.Boolean()),
  /** The secrets behind `env:NAME` and `file:PATH`, which the caller has and the node does not. */
  secrets: Type.Optional(
    Type.Record(Type.String({ maxLength: 1100 }), Type.String({ maxLength: maxSecretLength })),
  ),
})

const DifferenceSchema = Type.Object(
  {
    change: oneOf(['add', 'change', 'remove']),
    subject: Type.String(),
    fields: Type.Array(
      Type.Object({ field: Type.String(), before: Type.Unknown(), after: Type.Unknown() }),
    ),
  },
  { title: 'ConfigurationDifference' },
)

const Managed = Type.Object(
  {
    section: oneOf(sectionKeys),
    name: Type.String(),
    /** The thing's id; null for a group that the directory has not created yet. */
    subject_id: nullable(Type.String()),
    /** The name of the file. */
    label: Type.String(),
    /** When the thing was found to differ from its file; null if it does not differ. */
    drifted_at: nullable(Time),
  },
  { title: 'ManagedThing' },
)

/** An organization's configuration as a file: export, plan and apply, and the things that files manage. */
export const configurationRoutes = {
  [`GET ${C}` as const]: route({
    summary: 'The configuration as a file, which contains references instead of secrets',
    permission: 'organization.manage',
    answer: Type.Object({
      /** The file's YAML text. */
      file: Type.String(),
      /** The same content as data. */
      document: Type.Record(Type.String(), Type.Unknown()),
    }),
    handle: async ({ organization }, { configurations, organizations }) => {
      requireSections(organization, sectionKeys)
      const found = await organizations.get(organization.id)
      const { text, document } = await configurations.export(found)
      return { file: text, document }
    },
  }),

  [`POST ${C}/plan` as const]: route({
    summary: 'Plan what applying a file would change, without changing anything',
    permission: 'organization.manage',
    status: 200,
    maxBodyBytes,
    body: FileBody,
    answer: Type.Object({ differences: Type.Array(DifferenceSchema) }),
    handle: async ({ organization, body }, { configurations }) => {
      const by = { permissions: permissionsIn(organization), slug: organization.slug }
      const options = { ...toOptions(body), ...by }
      return { differences: shown(await configurations.plan(body.file, options)) }
    },
  }),

  [`POST ${C}/apply` as const]: route({
    summary:
      'Make the organization match a file, all or nothing; each change requires its usual permission',
    permission: 'organization.manage',
    freshSignIn: true,
    status: 201,
    maxBodyBytes,
    body: FileBody,
    answer: Type.Object({
      applied: Type.Array(DifferenceSchema),
      /** Newly issued keys; their secrets are shown only here. */
      keys: Type.Array(
        Type.Object({ name: Type.String(), id: Type.String(), secret: Type.String() }),
      ),
      confirmation: Confirmed,
    }),
    handle: async ({ organization, body, actor }, { configurations }) => {
      const by = { actor, permissions: permissionsIn(organization), slug: organization.slug }
      const applied = await configurations.apply(body.file, { ...toOptions(body), ...by })
      return {
        applied: shown(applied.differences),
        keys: [...applied.issued],
        confirmation: toConfirmed(applied.confirmation),
      }
    },
  }),

  [`GET ${C}/managed` as const]: route({
    summary: 'The things that files manage, ordered by section and name',
    permission: 'traffic.see',
    query: Type.Object({
      ...pageQuery,
      // A cursor consists of a section and a name, and the name of a key alone may have a hundred characters.
      after: Type.Optional(Type.String({ minLength: 1, maxLength: 400 })),
      section: Type.Optional(oneOf(sectionKeys)),
      /** Only things with these ids, separated by commas. */
      ids: Type.Optional(Type.String({ minLength: 1, maxLength: maxIdsLength })),
    }),
    answer: pageOf(Managed),
    handle: async ({ organization, query }, { configurations }) => {
      const { section, ids } = query
      const after = thingOf(query.after)
      const page = { after, section, subjectIds: ids?.split(','), limit: limitOf(query) + 1 }
      return toPage(query, await configurations.managed(organization.id, page), {
        item: (row) => ({
          section: row.section as Static<typeof Managed>['section'],
          name: row.name,
          subject_id: row.subjectId ?? null,
          label: row.label,
          drifted_at: timeOrNull(row.driftedAt),
        }),
        cursorOf: ({ section: of, name }) => `${of} ${name}`,
      })
    },
  }),

  [`POST ${C}/take-over` as const]: route({
    summary: 'Let people edit a thing that a file manages, until the file is next applied',
    permission: 'organization.manage',
    body: input({ section: oneOf(sectionKeys), id: Type.String({ minLength: 1, maxLength: 300 }) }),
    handle: async ({ organization, body, actor }, { configurations }) => {
      requireSections(organization, [body.section])
      const thing = { section: body.section, idOrName: body.id }
      await configurations.takeOver(organization.id, thing, actor)
      return undefined
    },
  }),
}

function toOptions({ label, prune, secrets = {} }: Static<typeof FileBody>) {
  const resolve = (reference: string): string | undefined =>
    Object.hasOwn(secrets, reference) ? secrets[reference] : undefined
  return { label, prune: prune === true, resolve }
}

/** Parses a cursor, which names the last thing on the previous page; throws `invalid_input` for any other text. */
function thingOf(cursor: string | undefined): { section: SectionKey; name: string } | undefined {
  if (cursor === undefined) return undefined
  const space = cursor.indexOf(' ')
  const section = sectionKeys.find((key) => key === cursor.slice(0, Math.max(0, space)))
  if (section === undefined) throw noCursor()
  return { section, name: cursor.slice(space + 1) }
}

/** Throws `permission_required` unless the caller may change things in all these sections. */
function requireSections(organization: RouteOrganization, keys: readonly SectionKey[]): void {
  const missing = keys.map(permissionFor).find((permission) => !isAllowed(organization, permission))
  if (missing === undefined) return
  throw new Problem('permission_required', `This shows or changes what needs ${missing}.`, {
    members: { permission: missing },
  })
}

function permissionsIn(organization: RouteOrganization): Permission[] {
  return (Object.keys(permissions) as Permission[]).filter((one) => isAllowed(organization, one))
}

function shown(differences: readonly Difference[]) {
  return differences.map(({ fields, ...one }) => ({ ...one, fields: [...fields] }))
}
