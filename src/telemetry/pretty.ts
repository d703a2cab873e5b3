const colours: Readonly<Record<string, number>> = {
  debug: 90,
  info: 36,
  warn: 33,
  error: 31,
  fatal: 31,
}

/** Formats a JSON line for people: time, level, message and fields, with a stack below. */
export function prettyLine(line: string): string {
  const { level, time, message, err, ...fields } = JSON.parse(line) as Record<string, unknown>
  const failure = err as { stack?: string; message?: string } | undefined
  const word = String(level)
  const parts = [
    `\u001B[90m${String(time).slice(11, 23)}\u001B[0m`,
    `\u001B[${colours[word] ?? 0}m${word.padEnd(5)}\u001B[0m`,
    visible(typeof message === 'string' ? message : ''),
    ...Object.entries(fields).map(([name, value]) => `\u001B[90m${name}=\u001B[0m${show(value)}`),
  ]
  const stack = failure?.stack ?? failure?.message
  return `${parts.join(' ')}\n${stack === undefined ? '' : `${stack.split('\n').map(indent).join('\n')}\n`}`
}

function show(value: unknown): string {
  return visible(typeof value === 'string' ? value : JSON.stringify(value))
}

function indent(line: string): string {
  return `    ${visible(line)}`
}

/** Escapes control characters: a path or a user agent must not move the cursor or start a new line. */
function visible(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]/gu, (character) => JSON.stringify(character).slice(1, -1))
    .replace(/[\u007F-\u009F]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)
}
