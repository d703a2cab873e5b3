import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { words } from '../../../words/en.ts'
import { ssoWords } from '../../../words/en/sso.ts'
import { directoryQuery, directoryTokensQuery } from '../../api/directory.ts'
import { connectionsQuery, domainsQuery, type Connection, type Domain } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import classes from './sso.module.css'

const w = ssoWords.steps

type State = 'open' | 'waits' | 'done' | 'broken'
interface Step {
  readonly state: State
  readonly text: string
}

const reading: Step = { state: 'open', text: words.loading }

export function Steps() {
  const { slug } = useOrganization()
  const domains = useQuery(domainsQuery(slug)).data?.items
  const connections = useQuery(connectionsQuery(slug)).data?.items
  const directory = useQuery(directoryQuery(slug)).data
  const tokens = useQuery(directoryTokensQuery(slug)).data?.items
  const issued = tokens?.some((token) => token.revoked_at === undefined) === true
  const steps: readonly (readonly [name: string, tab: string, step: Step])[] = [
    [w.domains, 'domains', domains === undefined ? reading : domainStep(domains)],
    [w.connection, 'connection', connections === undefined ? reading : connectionStep(connections)],
    [w.test, 'connection', connections === undefined ? reading : testStep(connections)],
    [
      w.directory,
      'directory',
      directory === undefined || tokens === undefined ? reading : directoryStep(directory, issued),
    ],
  ]
  return (
    <ol className={classes.steps} aria-label={w.label}>
      {steps.map(([name, tab, step]) => (
        <li key={name} className={step.state === 'open' ? undefined : classes[step.state]}>
          <Link
            to="/o/$organization/sso"
            params={{ organization: slug }}
            search={{ tab }}
            resetScroll={false}
          >
            <span className={classes.dot} aria-hidden="true" />
            <strong>{name}</strong>
            <small data-loading={step === reading ? true : undefined}>{step.text}</small>
          </Link>
        </li>
      ))}
    </ol>
  )
}

function domainStep(domains: readonly Domain[]): Step {
  if (domains.some((one) => one.state === 'lost')) return { state: 'broken', text: w.domainsLost }
  const verified = domains.filter((one) => one.state === 'verified').length
  if (verified > 0) return { state: 'done', text: w.domainsDone(verified) }
  if (domains.length > 0) return { state: 'waits', text: w.domainsWait }
  return { state: 'open', text: w.states.open }
}

function connectionStep(connections: readonly Connection[]): Step {
  const main = connections.find((one) => one.is_default) ?? connections[0]
  if (main === undefined) return { state: 'open', text: w.states.open }
  if (main.disabled_at !== undefined) return { state: 'broken', text: w.connectionOff }
  if (main.last_refusal !== undefined) return { state: 'broken', text: w.connectionBroken }
  return { state: 'done', text: w.connectionDone(main.name) }
}

function testStep(connections: readonly Connection[]): Step {
  const main = connections.find((one) => one.is_default) ?? connections[0]
  if (main === undefined) return { state: 'open', text: w.states.open }
  return main.tested_at === undefined
    ? { state: 'waits', text: w.testOpen }
    : { state: 'done', text: w.testDone }
}

function directoryStep(
  directory: {
    readonly is_on: boolean
    readonly users: number
    readonly last_request_at: string | undefined
  },
  issued: boolean,
): Step {
  // A token proves nothing yet: the step is done once the directory has sent a request.
  if (directory.is_on && directory.last_request_at !== undefined) {
    return { state: 'done', text: w.directoryDone(directory.users) }
  }
  return issued
    ? { state: 'waits', text: w.directoryWaits }
    : { state: 'open', text: w.states.open }
}
