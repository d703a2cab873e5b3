import { readSlug, type Configurations, type Difference } from '../../configuration/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { toConfirmation, type Confirmed } from './confirmed.ts'

type ApplyOptions = Parameters<Configurations['plan']>[1]

/** Implements export, plan and apply by calling a server's API; references to secrets are resolved on this machine. */
export function remoteConfigurations(remote: Remote) {
  const body = (text: string, { label, prune, resolve }: ApplyOptions) => {
    const { slug, references } = readSlug(text, label)
    const secrets = references.flatMap((reference) => {
      const secret = resolve(reference)
      return secret === undefined ? [] : [[reference, secret] as const]
    })
    return { slug, body: { file: text, label, prune, secrets: Object.fromEntries(secrets) } }
  }
  async function plan(text: string, options: ApplyOptions): Promise<Difference[]> {
    const asked = body(text, options)
    const route = `POST /organizations/${part(asked.slug)}/configuration/plan`
    return (await remote.call<{ differences: Difference[] }>(route, asked.body)).differences
  }
  return {
    plan,
    async export({ slug }) {
      const at = `/organizations/${part(slug)}/configuration`
      const { file, document } = await remote.call<{ file: string; document: object }>(`GET ${at}`)
      return { text: file, document: document as Record<string, unknown> }
    },
    async apply(text, by) {
      const asked = body(text, by)
      const planned = await plan(text, by)
      const added = planned.filter(
        ({ change, subject }) => change === 'add' && subject.startsWith('key '),
      )
      // `onIssued` is called before anything is created, so that it can refuse if the new secrets have no destination.
      by.onIssued?.(added.map(({ subject }) => ({ name: subject.slice(4), id: '', secret: '' })))
      const done = await remote.call<{
        applied: Difference[]
        keys: { name: string; id: string; secret: string }[]
        confirmation: Confirmed
      }>(`POST /organizations/${part(asked.slug)}/configuration/apply`, asked.body)
      by.onIssued?.(done.keys)
      return {
        differences: done.applied,
        issued: done.keys,
        confirmation: toConfirmation(done.confirmation),
      }
    },
  } satisfies Partial<Configurations>
}
