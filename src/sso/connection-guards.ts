import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import { faultOf } from '../oidc/index.ts'
import { policyOf } from '../organizations/index.ts'
import { connections, organizations, type Actor, type Store, type Tx } from '../store/index.ts'

export interface Save {
  readonly organizationId: string
  readonly subject: { readonly kind: string; readonly id: string }
  readonly actor: Actor
  readonly issuer: string
}

/** Runs the checks that precede a save; if they refuse it, the audit log records the refusal. */
export async function noteRefusedSave<T>(
  store: Store,
  save: Save,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { issuer, ...entry } = save
    const { code, message: sentence } = error
    const detail = { issuer: issuer.slice(0, 512), code, sentence, check: faultOf(error)?.check }
    await store.transaction(async (tx) => {
      record(tx, { ...entry, action: 'sso.connection_refused', detail })
    })
    throw error
  }
}

/** Throws `last_connection` if an organization that requires company sign-in would lose its last active connection. */
export async function keepWayIn(tx: Tx, organizationId: OrganizationId): Promise<void> {
  // Locks the organization, because another transaction may be about to require company sign-in.
  const organization = await organizations.find(tx, organizationId, true)
  if (!organization || !policyOf(organization).required) return
  const left = await connections.list(tx, organizationId)
  if (left.some(({ disabledAt }) => disabledAt === undefined)) return
  throw new Problem(
    'last_connection',
    'People could not sign in any more: the company sign-in is required, and this is its last connection.',
  )
}
