import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { startTest, testQuery, type Connection, type ConnectionTest } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button, Lamp } from '../../parts/Button.tsx'
import { cx } from '../../parts/cx.ts'
import { ProblemNotice } from '../../parts/States.tsx'
import { Card, Facts, Notice } from '../../parts/Surface.tsx'
import classes from './sso.module.css'

const here = getRouteApi('/frame/o/$organization/sso')
const w = ssoWords.test

/** Runs a complete test sign-in in another window and shows every check; nobody is signed in. */
export function TestCard({ connection }: { readonly connection: Connection }) {
  const { slug } = useOrganization()
  const { mine, starting, start, address, blocked } = useTest(connection)
  const result = useQuery({
    ...testQuery(slug, connection.id, mine ?? ''),
    enabled: mine !== undefined,
  })
  const test = result.data
  const finished = test?.finished_at !== undefined
  useConnectionsAgain(finished)
  return (
    <Card
      title={w.title(connection.name)}
      lead={w.lead}
      actions={
        <Button
          small
          look={connection.tested_at === undefined ? 'primary' : 'plain'}
          busy={starting.isPending}
          disabled={connection.disabled_at !== undefined}
          onClick={start}
        >
          {mine === undefined ? w.start : w.again}
        </Button>
      }
    >
      <div className="stack" role="status">
        {starting.error === null ? undefined : <ProblemNotice error={starting.error} />}
        {result.error === null ? undefined : (
          <ProblemNotice error={result.error} retry={() => void result.refetch()} />
        )}
        {mine === undefined || test === undefined || finished ? undefined : (
          <Waiting address={address} blocked={blocked} />
        )}
        {finished && test !== undefined ? <Result test={test} /> : undefined}
      </div>
    </Card>
  )
}

function useTest(connection: Connection) {
  const { slug } = useOrganization()
  const { test } = here.useSearch()
  const navigate = here.useNavigate()
  const [address, setAddress] = useState<string>()
  const [blocked, setBlocked] = useState(false)
  // The URL names the displayed test, so that a reload finds its result.
  const [testedId, testId] = (test ?? '').split('.')
  const starting = useMutation({
    mutationFn: (_popup: Window | null) => startTest(slug, connection.id),
    onSuccess: (started, popup) => {
      setAddress(started.address)
      setBlocked(popup === null)
      if (popup !== null) popup.location.href = started.address
      void navigate({
        search: { tab: 'connection', test: `${connection.id}.${started.id}` },
        replace: true,
      })
    },
    onError: (_error, popup) => popup?.close(),
  })
  return {
    mine: testedId === connection.id ? testId : undefined,
    starting,
    // The window is opened during the click, because the browser would block it later.
    start: () => starting.mutate(window.open('', 'intercept-test', 'popup,width=560,height=720')),
    address,
    blocked,
  }
}

/** Refetches the connections when a test has finished, because the test changes its connection's state. */
function useConnectionsAgain(finished: boolean): void {
  const { slug } = useOrganization()
  const client = useQueryClient()
  useEffect(() => {
    if (finished) void client.invalidateQueries({ queryKey: [slug, 'sso', 'connections'] })
  }, [finished, client, slug])
}

function Waiting({
  address,
  blocked,
}: {
  readonly address: string | undefined
  readonly blocked: boolean
}) {
  return (
    <div className="stack-tight">
      <p className="row">
        <Lamp /> {w.waiting}
      </p>
      {address === undefined ? undefined : (
        <p>
          {blocked ? `${w.blocked} ` : undefined}
          <a href={address} target="_blank" rel="noreferrer">
            {w.open}
          </a>
        </p>
      )}
    </div>
  )
}

function Result({ test }: { readonly test: ConnectionTest }) {
  const { person } = test
  const marks = { passed: classes.markPassed, failed: classes.markFailed, skipped: undefined }
  return (
    <div className="stack">
      <Notice
        tone={test.passed === true ? 'pass' : 'refuse'}
        title={test.passed === true ? w.passed : w.failed}
      />
      <ol className={classes.lines}>
        {test.lines.map((line) => (
          <li key={line.step}>
            <span className={cx(classes.mark, marks[line.outcome])} aria-hidden="true" />
            <div>
              <strong>{w.steps[line.step] ?? line.step}</strong>{' '}
              <span className="muted">{w.outcomes[line.outcome]}</span>
            </div>
            <p>
              {line.sentence}{' '}
              {line.code === undefined ? undefined : (
                <a href={`/problems/${line.code}`} target="_blank" rel="noreferrer">
                  <code>{line.code}</code>
                </a>
              )}
            </p>
          </li>
        ))}
      </ol>
      {person === undefined ? undefined : (
        <section className="stack-tight">
          <h3>{w.person}</h3>
          <Facts
            facts={[
              [w.facts.subject, <code key="subject">{person.subject}</code>],
              [
                w.facts.email,
                person.email === undefined
                  ? w.notSent
                  : `${person.email} (${person.email_verified ? w.verified : w.notVerified})`,
              ],
              [w.facts.name, person.name ?? w.notSent],
              [w.facts.groups, person.groups?.join(', ') ?? w.noGroups],
              [w.facts.directory, person.directory_value],
            ]}
          />
        </section>
      )}
    </div>
  )
}
