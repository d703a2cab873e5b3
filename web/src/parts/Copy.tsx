import { useRef, useState, type RefObject } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { copyLabel, copyText, type Outcome } from './copy-text.ts'
import { Segmented } from './Field.tsx'
import classes from './surface.module.css'

/** Success is reported for two seconds, a failure until the next attempt. */
export function useCopy(
  visible: RefObject<HTMLElement | null>,
): readonly [Outcome, (text: string) => Promise<boolean>] {
  const [outcome, setOutcome] = useState<Outcome>('idle')
  async function copy(text: string): Promise<boolean> {
    const copied = await copyText(text, visible.current)
    setOutcome(copied ? 'copied' : 'selected')
    if (copied) window.setTimeout(() => setOutcome('idle'), 2000)
    return copied
  }
  return [outcome, copy]
}

export function CopyText({
  text,
  shown,
  what,
}: {
  readonly text: string
  readonly shown?: string
  readonly what: string
}) {
  const node = useRef<HTMLElement>(null)
  const [outcome, copy] = useCopy(node)
  return (
    <span className={classes.copyLine}>
      <code ref={node}>{shown ?? text}</code>
      <Button
        small
        look="quiet"
        icon={outcome === 'copied' ? 'check' : 'copy'}
        aria-label={words.copyWhat(what)}
        title={words.copyWhat(what)}
        onClick={() => void copy(text)}
      />
      <span className="visually-hidden" role="status">
        {outcome === 'idle' ? '' : copyLabel(outcome, '')}
      </span>
    </span>
  )
}

export function Snippet({ text, label }: { readonly text: string; readonly label: string }) {
  const node = useRef<HTMLPreElement>(null)
  const [outcome, copy] = useCopy(node)
  return (
    <div className={classes.snippet}>
      <pre ref={node} tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <Button small onClick={() => void copy(text)} aria-label={words.copyWhat(label)}>
        {copyLabel(outcome, words.copy)}
      </Button>
    </div>
  )
}

/** Shows JSON formatted, with a switch to the text as it was sent. */
export function BodySnippet({ text, label }: { readonly text: string; readonly label: string }) {
  const [asSent, setAsSent] = useState(false)
  const formatted = formatJson(text)
  if (formatted === undefined || formatted === text) return <Snippet text={text} label={label} />
  return (
    <div className="stack-tight">
      <div>
        <Segmented
          label={words.bodyForm}
          value={asSent ? 'sent' : 'formatted'}
          options={[
            { value: 'formatted', label: words.formatted },
            { value: 'sent', label: words.asSent },
          ]}
          onValue={(form) => setAsSent(form === 'sent')}
        />
      </div>
      <Snippet text={asSent ? text : formatted} label={label} />
    </div>
  )
}

/**
 * Formats JSON. Returns undefined if the text is not a JSON object or list, or if formatting would change more than
 * white space: for example, parsing rounds numbers beyond 2^53 and drops duplicate names.
 */
function formatJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const bare = (one: string): string => one.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
    const formatted = JSON.stringify(value, null, 2)
    return bare(formatted) === bare(text) ? formatted : undefined
  } catch {
    return undefined
  }
}
