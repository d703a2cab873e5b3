import classes from './range.module.css'

export function Segments({
  label,
  value,
  options,
  onValue,
}: {
  readonly label: string
  readonly value: string
  readonly options: Readonly<Record<string, string>>
  readonly onValue: (value: string) => void
}) {
  return (
    <span className={classes.names} role="group" aria-label={label}>
      {Object.entries(options).map(([id, text]) => (
        <button
          key={id}
          type="button"
          className={classes.small}
          aria-pressed={id === value}
          onClick={() => onValue(id)}
        >
          {text}
        </button>
      ))}
    </span>
  )
}
