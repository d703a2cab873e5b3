import type { Call } from '../../api/shapes.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { BodySnippet } from '../../parts/Copy.tsx'
import { size } from '../../parts/numbers.ts'
import { Facts } from '../../parts/Surface.tsx'

type Capture = NonNullable<Call['capture']>

export function Captured({ capture }: { readonly capture: Capture }) {
  return (
    <section className="stack-tight">
      <h3>{w.captured}</h3>
      <p className="muted small">
        {w.capturedLead}
        {capture.redacted === undefined ? '' : ` ${w.redacted(capture.redacted.join(', '))}`}
      </p>
      {(['request', 'answer'] as const).map((part) => (
        <Message key={part} title={w.capturedParts[part]} message={capture[part]} />
      ))}
    </section>
  )
}

function Message({
  title,
  message,
}: {
  readonly title: string
  readonly message: Capture['request']
}) {
  const headers = Object.entries(message.headers)
  const { body, bytes } = message
  return (
    <section className="stack-tight" aria-label={title}>
      <h4>{title}</h4>
      {headers.length === 0 ? (
        <p className="muted small">{w.noHeaders}</p>
      ) : (
        <Facts
          facts={headers.map(([name, value]) => [
            name,
            <code key={name} className="break">
              {value}
            </code>,
          ])}
        />
      )}
      {body === undefined ? (
        <p className="muted small">{w.noBody(size(bytes))}</p>
      ) : (
        <>
          <p className="muted small">{w.bodyKept(size(bytes))}</p>
          <BodySnippet label={`${title}: ${w.captured}`} text={body} />
        </>
      )}
    </section>
  )
}
