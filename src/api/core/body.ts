import { Problem } from '../../errors.ts'

const maxMembers = 10_000

/** Refuses values nested deeper than `deepest`, more than 10,000 values, and text that not every database can store. */
export function checkBody(value: unknown, deepest: number): void {
  let members = 0
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 1 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    members += 1
    if (members > maxMembers) throw refused(`holds more than ${maxMembers} values`)
    if (typeof next.value === 'string') checkText(next.value)
    if (typeof next.value !== 'object' || next.value === null) continue
    if (next.depth > deepest) throw refused(`is nested deeper than ${deepest}`)
    for (const [name, member] of Object.entries(next.value)) {
      checkText(name)
      waiting.push({ value: member, depth: next.depth + 1 })
    }
  }
}

/** Refuses text that not every database can store (`isStorable`). */
export function checkText(text: string): void {
  if (text.includes('\0')) throw refused('holds the character U+0000')
  if (!text.isWellFormed()) throw refused('holds half a surrogate pair')
}

function refused(what: string): Problem {
  return new Problem('invalid_input', `The request ${what}.`)
}
