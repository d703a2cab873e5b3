import classes from './stack-bar.module.css'

/** Shows the parts of a whole, such as an endpoint's deliveries, in one thin bar. */
export function StackBar({
  label,
  parts,
}: {
  readonly label: string
  readonly parts: readonly { readonly number: number; readonly tone: 'flow' | 'bad' | 'waits' }[]
}) {
  return (
    <span className={classes.stackBar} role="img" aria-label={label} title={label}>
      {parts.map((part) =>
        part.number === 0 ? undefined : (
          <i
            key={part.tone}
            className={part.tone === 'flow' ? undefined : classes[part.tone]}
            style={{ flexGrow: part.number }}
          />
        ),
      )}
    </span>
  )
}
