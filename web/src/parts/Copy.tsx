import { useRef, useState, type RefObject } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { copyText } from './copy-text.ts'
import classes from './surface.module.css'

type Outcome = 'idle' | 'copied' | 'selected'

/** Copies the text of a node that can be seen; says what happened for two seconds. */
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

/** The words for a copy button in each state. */
export function copyLabel(outcome: Outcome, idle: string): string {
  return outcome === 'copied' ? words.copied : outcome === 'selected' ? words.copySelected : idle
}

/** An id or address in mono with a small copy button. */
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

/** A block of code with a copy button. */
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
