import { useState } from 'react'
import type { Target } from '../../api/shapes.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { TextArea, TextField } from '../../parts/Field.tsx'
import { fieldError } from '../../parts/States.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { Card, Columns } from '../../parts/Surface.tsx'
import { useEdit } from './useEdit.ts'

const w = targetsWords.capture
/** The server refuses these, whoever asks. */
const neverKept: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'cookie',
  'set-cookie',
  'proxy-authorization',
])

/** What is kept of calls besides their record, with a preview in words. */
export function Capture({
  organization,
  it,
  editable,
}: {
  readonly organization: string
  readonly it: Target
  readonly editable: boolean
}) {
  const [names, setNames] = useState(it.capture.headers.join('\n'))
  const [bytes, setBytes] = useState(String(it.capture.body_bytes))
  const [hidden, setHidden] = useState(it.capture.redact.join('\n'))
  const [records, setRecords] = useState(it.call_records)
  const edit = useEdit(organization, it, w.saved)
  const headers = listOf(names.toLowerCase())
  const redact = listOf(hidden)
  function onSave() {
    edit.mutate({ call_records: records, capture: { headers, body_bytes: Number(bytes), redact } })
  }
  return (
    <Columns>
      <Card title={w.title} lead={w.lead}>
        <SaveForm saving={edit} editable={editable} onSave={onSave}>
          <TextField
            label={w.records}
            hint={w.recordsHint}
            error={fieldError(edit.error, 'call_records')}
            pattern="all|refused|none|sampled 1/[1-9][0-9]*"
            patternWords={w.recordsWrong}
            disabled={!editable}
            value={records}
            onValue={setRecords}
          />
          <TextArea
            label={w.headers}
            hint={w.headersHint}
            error={fieldError(edit.error, 'capture.headers')}
            code
            disabled={!editable}
            value={names}
            onValue={setNames}
          />
          <TextField
            label={w.bytes}
            hint={w.bytesHint}
            error={fieldError(edit.error, 'capture.body_bytes')}
            inputMode="numeric"
            pattern="[0-9]+"
            disabled={!editable}
            value={bytes}
            onValue={setBytes}
          />
          <TextArea
            label={w.redact}
            hint={w.redactHint}
            error={fieldError(edit.error, 'capture.redact')}
            code
            rows={2}
            disabled={!editable}
            value={hidden}
            onValue={setHidden}
          />
        </SaveForm>
      </Card>
      <Card title={w.preview}>
        {headers.length === 0 && Number(bytes) === 0 ? (
          <p>{w.nothing}</p>
        ) : (
          <ul className="stack-tight mono">
            {headers.map((name) => (
              <li key={name}>{neverKept.has(name) ? w.neverKept(name) : `${name}: ${w.value}`}</li>
            ))}
            {Number(bytes) > 0 ? <li>{w.bodyPreview(bytes)}</li> : undefined}
            {Number(bytes) > 0
              ? redact.map((name) => <li key={`body ${name}`}>{`"${name}": "…"`}</li>)
              : undefined}
          </ul>
        )}
      </Card>
    </Columns>
  )
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}
