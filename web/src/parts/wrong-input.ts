import { useState, type InvalidEvent } from 'react'
import { words } from '../../words/en.ts'

/** Shows below a field what is wrong with it, in our own words instead of the browser's bubble. */
export function useWrongInput(patternWords: string = words.wrong.number) {
  const [sentence, setSentence] = useState<string>()
  return {
    sentence,
    clear: () => setSentence(undefined),
    onInvalid(event: InvalidEvent<HTMLInputElement | HTMLTextAreaElement>) {
      const field = event.currentTarget
      event.preventDefault()
      setSentence(field.validity.patternMismatch ? patternWords : sentenceFor(field))
      const fold = field.closest('details')
      if (fold !== null) fold.open = true
      // Without its bubble, the browser does not move the focus either, so the first invalid field gets it here.
      if (field.form?.querySelector('input:invalid, textarea:invalid') === field) field.focus()
    },
  }
}

function sentenceFor(field: HTMLInputElement | HTMLTextAreaElement): string {
  const { validity, type, minLength } = field
  const { wrong } = words
  if (validity.customError) return field.validationMessage
  if (validity.valueMissing) return wrong.missing
  if (validity.typeMismatch) return type === 'email' ? wrong.email : wrong.url
  if (validity.tooShort) return wrong.short(minLength)
  return wrong.other
}
