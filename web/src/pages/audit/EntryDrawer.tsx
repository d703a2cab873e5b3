import type { AuditEntry } from '../../api/shapes.ts'
import { auditWords as w } from '../../../words/en/audit.ts'
import { ButtonLink } from '../../parts/Button.tsx'
import { CopyText, Snippet } from '../../parts/Copy.tsx'
import { Drawer } from '../../parts/Dialogs.tsx'
import { Facts } from '../../parts/Surface.tsx'
import { exact } from '../../parts/Time.tsx'
import { actorName } from './actor.ts'
import classes from './audit.module.css'
import { differences } from './differences.ts'
import { sentenceOf } from './sentence.ts'
import { SubjectLink } from './SubjectLink.tsx'

interface EntryProps {
  readonly organization: string
  readonly entry: AuditEntry
}

export function EntryDrawer({
  organization,
  entry,
  onClose,
}: EntryProps & { readonly onClose: () => void }) {
  return (
    <Drawer open onClose={onClose} title={sentenceOf(entry)}>
      <div className="stack">
        <Facts facts={factsOf(entry)} />
        <Difference detail={entry.detail} />
        <Further organization={organization} entry={entry} />
      </div>
    </Drawer>
  )
}

function factsOf(entry: AuditEntry): Parameters<typeof Facts>[0]['facts'] {
  const d = w.details
  const { address, request_id: request, actor, subject } = entry
  const copied = (text: string | undefined, what: string) =>
    text === undefined ? undefined : <CopyText text={text} what={what} />
  return [
    [d.time, <CopyText key="time" text={entry.at} shown={exact(entry.at)} what={d.time} />],
    [d.actor, actorName(entry)],
    [d.actorId, copied(actor.id, d.actorId)],
    [d.action, <code key="action">{entry.action}</code>],
    [d.subject, copied(subject.id, d.subject)],
    [d.address, address === undefined ? undefined : <code key="address">{address}</code>],
    [d.request, copied(request, d.request)],
    [d.sequence, String(entry.sequence)],
    [d.hash, <code key="hash">{entry.hash}</code>],
  ]
}

function Further({ organization, entry }: EntryProps) {
  return (
    <div className="row">
      <SubjectLink organization={organization} entry={entry} />
      <ButtonLink
        small
        to="/o/$organization/audit"
        params={{ organization }}
        search={{ subject: entry.subject.id }}
      >
        {w.ofThis}
      </ButtonLink>
      {entry.actor.id === undefined ? undefined : (
        <ButtonLink
          small
          to="/o/$organization/audit"
          params={{ organization }}
          search={{ actor: entry.actor.id }}
        >
          {w.ofActor}
        </ButtonLink>
      )}
    </div>
  )
}

function Difference({ detail }: { readonly detail: AuditEntry['detail'] }) {
  const changed = differences(detail)
  if (changed.length > 0) {
    return (
      <table className={classes.diff}>
        <caption className="visually-hidden">{w.change}</caption>
        <thead>
          <tr>
            <th scope="col">{w.field}</th>
            <th scope="col">{w.before}</th>
            <th scope="col">{w.after}</th>
          </tr>
        </thead>
        <tbody>
          {changed.map(({ field, before, after }) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              <td className={classes.before}>{before}</td>
              <td className={classes.after}>{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )
  }
  if (Object.keys(detail).length === 0) return <p className="muted">{w.noDetail}</p>
  return <Snippet label={w.change} text={JSON.stringify(detail, null, 2)} />
}
