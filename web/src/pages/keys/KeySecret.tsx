import { useQuery } from '@tanstack/react-query'
import { latestCallsQuery } from '../../api/calls.ts'
import { keyQuery } from '../../api/keys.ts'
import type { Key } from '../../api/shapes.ts'
import { targetsQuery } from '../../api/targets.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { Lamp } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { FullLine } from '../../parts/Line.tsx'
import { SecretDialog } from '../../parts/SecretDialog.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { keyHeader } from './parts.tsx'

const waitMs = 1500

/** Shows a key's secret the only time that it can be shown. */
export function KeySecret({
  organization,
  issued,
  secret,
  title,
  rotatedTo,
  onClose,
}: {
  readonly organization: string
  readonly issued: Pick<Key, 'id' | 'scheme' | 'grants'>
  readonly secret: string
  readonly title: string
  /** After a rotation, the hint of the new secret; the dialog then waits for the first call with this secret. */
  readonly rotatedTo?: string
  readonly onClose: () => void
}) {
  const targets = useQuery(targetsQuery(organization))
  const target = issued.grants?.[0]?.target ?? targets.data?.items[0]?.slug
  return (
    <SecretDialog
      secret={secret}
      name={w.keyName}
      title={title}
      lead={w.issuedLead}
      onClose={onClose}
    >
      <KeySnippets scheme={issued.scheme} secret={secret} target={target} />
      <p className="muted">{w.clientSide}</p>
      {rotatedTo === undefined ? (
        <FirstCall organization={organization} keyId={issued.id} />
      ) : (
        <FirstUse organization={organization} keyId={issued.id} hint={rotatedTo} />
      )}
    </SecretDialog>
  )
}

export function KeySnippets({
  scheme,
  secret,
  target,
}: {
  readonly scheme: Key['scheme']
  readonly secret: string
  readonly target: string | undefined
}) {
  const address = `${window.location.origin}/api/v1/intercept${target === undefined ? '' : `/${target}/`}`
  const header = keyHeader(scheme, secret)
  const [name = '', value = ''] = header.split(/: (.*)/s)
  const texts = [
    ['curl', 'curl', `curl ${address} \\\n  -H '${header}'`],
    [
      'node',
      'Node.js',
      `const answer = await fetch('${address}', {\n  headers: { '${name}': '${value}' },\n})\nconsole.log(answer.status, await answer.text())`,
    ],
    [
      'python',
      'Python',
      `import urllib.request\n\nrequest = urllib.request.Request('${address}', headers={'${name}': '${value}'})\nwith urllib.request.urlopen(request) as answer:\n    print(answer.status, answer.read())`,
    ],
    ['env', '.env', `INTERCEPT_URL=${address}\nINTERCEPT_KEY=${secret}`],
  ] as const
  return (
    <div>
      {target === undefined ? <p className="muted">{w.noTarget}</p> : undefined}
      <Tabs
        inside
        label={w.snippets}
        tabs={texts.map(([id, label, text]) => ({
          id,
          label,
          content: <Snippet text={text} label={label} />,
        }))}
      />
    </div>
  )
}

function FirstUse({
  organization,
  keyId,
  hint,
}: {
  readonly organization: string
  readonly keyId: string
  readonly hint: string
}) {
  const isUsed = (key: Key | undefined) =>
    key?.secrets.some((one) => one.hint === hint && one.last_used_at !== undefined) === true
  const key = useQuery({
    ...keyQuery(organization, keyId),
    refetchInterval: (query) => (isUsed(query.state.data) ? false : waitMs),
  })
  return (
    <p className="row" role="status">
      {isUsed(key.data) ? undefined : <Lamp />}
      {isUsed(key.data) ? w.newUsed : w.waitingNew}
    </p>
  )
}

export function FirstCall({
  organization,
  keyId,
}: {
  readonly organization: string
  readonly keyId: string
}) {
  const calls = useQuery({
    ...latestCallsQuery(organization, keyId, 1),
    refetchInterval: (query) => ((query.state.data?.items.length ?? 0) > 0 ? false : waitMs),
  })
  const first = calls.data?.items[0]
  return (
    <div className="stack-tight">
      <p className="row" role="status">
        {first === undefined ? <Lamp /> : undefined}
        {first === undefined
          ? w.waiting
          : first.stopped_at === undefined
            ? w.firstCall(first.status)
            : w.firstRefused(first.code ?? String(first.status))}
      </p>
      <FullLine stoppedAt={first?.stopped_at} waiting={first === undefined} />
    </div>
  )
}
