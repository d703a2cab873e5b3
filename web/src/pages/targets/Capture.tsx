import type { Target } from '../../api/shapes.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { TextArea, TextField } from '../../parts/Field.tsx'
import { fieldError } from '../../parts/States.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { Card, Columns } from '../../parts/Surface.tsx'
import { useDraft } from '../../parts/useDraft.ts'
import { useEdit, type TargetFormProps } from './useEdit.ts'

const w = targetsWords.capture
/** Headers that the server refuses to capture. */
const neverKept: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'cookie',
  'set-cookie',
  'proxy-authorization',
])

interface Draft {
  readonly records: string
  readonly headers: string
  readonly bytes: string
  readonly redact: string
}

export function Capture({ organization, it, editable }: TargetFormProps) {
  const { base, draft, patch, forget } = useDraft(it, draftOf)
  const edit = useEdit(organization, it, { base, saved: w.saved, onDone: forget })
  const headers = listOf(draft.headers.toLowerCase())
  const redact = listOf(draft.redact)
  const bodyBytes = Number(draft.bytes)
  const capture = { headers, body_bytes: bodyBytes, redact }
  return (
    <Columns>
      <Card title={w.title} lead={w.lead}>
        <SaveForm
          saving={edit}
          editable={editable}
          onSave={() => edit.mutate({ call_records: draft.records, capture })}
        >
          <Fields draft={draft} error={edit.error} editable={editable} onPatch={patch} />
        </SaveForm>
      </Card>
      <Preview headers={headers} redact={redact} bytes={bodyBytes} />
    </Columns>
  )
}

function Fields({
  draft,
  error,
  editable,
  onPatch,
}: {
  readonly draft: Draft
  readonly error: unknown
  readonly editable: boolean
  readonly onPatch: (patch: Partial<Draft>) => void
}) {
  const text = (name: keyof Draft) => ({
    disabled: !editable,
    value: draft[name],
    onValue: (value: string) => onPatch({ [name]: value }),
  })
  return (
    <>
      <TextField
        label={w.records}
        hint={w.recordsHint}
        error={fieldError(error, 'call_records')}
        pattern="all|refused|none|sampled 1/[1-9][0-9]*"
        patternWords={w.recordsWrong}
        {...text('records')}
      />
      <TextArea
        label={w.headers}
        hint={w.headersHint}
        error={fieldError(error, 'capture.headers')}
        code
        {...text('headers')}
      />
      <TextField
        label={w.bytes}
        hint={w.bytesHint}
        error={fieldError(error, 'capture.body_bytes')}
        inputMode="numeric"
        pattern="[0-9]+"
        {...text('bytes')}
      />
      <TextArea
        label={w.redact}
        hint={w.redactHint}
        error={fieldError(error, 'capture.redact')}
        code
        rows={2}
        {...text('redact')}
      />
    </>
  )
}

function Preview({
  headers,
  redact,
  bytes,
}: {
  readonly headers: readonly string[]
  readonly redact: readonly string[]
  readonly bytes: number
}) {
  const hasBody = bytes > 0
  return (
    <Card title={w.preview}>
      {headers.length === 0 && !hasBody ? (
        <p>{w.nothing}</p>
      ) : (
        <ul className="stack-tight mono">
          {headers.map((name) => (
            <li key={name}>{neverKept.has(name) ? w.neverKept(name) : `${name}: ${w.value}`}</li>
          ))}
          {hasBody ? <li>{w.bodyPreview(String(bytes))}</li> : undefined}
          {hasBody
            ? redact.map((name) => <li key={`body ${name}`}>{`"${name}": "…"`}</li>)
            : undefined}
        </ul>
      )}
    </Card>
  )
}

function draftOf({ call_records: records, capture }: Target): Draft {
  return {
    records,
    headers: capture.headers.join('\n'),
    bytes: String(capture.body_bytes),
    redact: capture.redact.join('\n'),
  }
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}
