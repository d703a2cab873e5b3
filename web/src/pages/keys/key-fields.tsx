import type { ReactNode } from 'react'
import { chosenOf, quotaPeriods, type Method, type QuotaPeriod } from '../../api/choices.ts'
import type { KeyBody } from '../../api/keys.ts'
import type { Grant, Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { Select, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { count } from '../../parts/numbers.ts'
import { fieldError } from '../../parts/States.tsx'
import { GrantChoices } from './GrantChoices.tsx'
import { labelLines, readLabels } from './label-text.ts'
import { Labels } from './Labels.tsx'

/** The fields of a key while they are typed; numbers are strings, because a number may still be incomplete. */
interface FieldsDraft {
  readonly some: boolean
  readonly grants: Readonly<Record<string, readonly Method[]>>
  readonly cidrs: string
  readonly limit: string
  readonly quota: string
  readonly period: QuotaPeriod
  /** One NAME=VALUE on each line. */
  readonly labels: string
}

type Card = 'facts' | 'limits'

interface KeyField {
  /** The form's initial values for a key; undefined means a new key. */
  readonly draftOf: (key: Key | undefined) => Partial<FieldsDraft>
  /** The field's part of the request body; empty if the field has no value. */
  readonly inputOf: (draft: FieldsDraft, before: Key | undefined) => Partial<KeyBody>
  readonly Controls: (props: ControlsProps) => ReactNode
  /** The card on the key's page that lists the field; undefined if the page shows it in another way. */
  readonly card?: Card
  readonly fact?: (key: Key, organization: string) => readonly [string, ReactNode]
}

interface ControlsProps {
  readonly draft: FieldsDraft
  readonly error: unknown
  /** The key that is edited; undefined for a new one. */
  readonly before: Key | undefined
  readonly slugs: readonly string[]
  readonly onPatch: (patch: Partial<FieldsDraft>) => void
}

type FieldName = Exclude<keyof KeyBody, 'name' | 'expires_at'>

/** Every field that people can edit, except name and expiry; a missing field is a type error. */
const keyFields: Readonly<Record<FieldName, KeyField>> = {
  grants: {
    draftOf: (key) => ({
      some: key?.grants !== undefined,
      grants: methodsByTarget(key?.grants ?? []),
    }),
    inputOf: ({ some, grants }) => (some ? { grants: Object.entries(grants).map(grantOf) } : {}),
    Controls: ({ draft, slugs, onPatch }) => (
      <>
        <SelectField
          label={w.form.grants}
          value={draft.some ? 'some' : 'all'}
          options={[
            { value: 'all', label: w.form.grantsAll },
            { value: 'some', label: w.form.grantsSome },
          ]}
          onValue={(value) => onPatch({ some: value === 'some' })}
        />
        {draft.some ? (
          <GrantChoices
            slugs={slugs}
            grants={draft.grants}
            onGrants={(grants) => onPatch({ grants })}
          />
        ) : undefined}
      </>
    ),
  },

  cidrs: {
    draftOf: (key) => ({ cidrs: (key?.cidrs ?? []).join('\n') }),
    inputOf: ({ cidrs: typed }) => {
      const cidrs = typed.split(/[\s,]+/).filter(Boolean)
      return cidrs.length === 0 ? {} : { cidrs }
    },
    Controls: ({ draft, error, onPatch }) => (
      <TextArea
        label={w.form.cidrs}
        hint={w.form.cidrsHint}
        error={fieldError(error, 'cidrs')}
        code
        rows={2}
        value={draft.cidrs}
        onValue={(cidrs) => onPatch({ cidrs })}
      />
    ),
    card: 'limits',
    fact: ({ cidrs = [] }) => [
      w.detail.addresses,
      cidrs.length === 0 ? w.detail.anyAddress : cidrs.join(', '),
    ],
  },

  rate_limit: {
    draftOf: (key) => ({ limit: key?.rate_limit === undefined ? '' : `${key.rate_limit.calls}` }),
    // Keeps the period and the burst of the key's rate limit, which can't be changed in the form.
    inputOf: ({ limit }, before) =>
      limit === ''
        ? {}
        : { rate_limit: { per_seconds: 1, ...before?.rate_limit, calls: Number(limit) } },
    Controls: ({ draft, error, before, onPatch }) => (
      <TextField
        label={w.form.limit}
        hint={w.form.limitHint(before?.rate_limit?.per_seconds ?? 1)}
        error={fieldError(error, 'rate_limit')}
        inputMode="numeric"
        pattern="[0-9]*"
        value={draft.limit}
        onValue={(limit) => onPatch({ limit })}
      />
    ),
    card: 'limits',
    fact: ({ rate_limit: limit }) => [
      w.detail.limit,
      limit === undefined
        ? w.detail.noLimit
        : w.detail.perSecond(count(limit.calls), limit.per_seconds),
    ],
  },

  quota: {
    draftOf: (key) => ({
      quota: key?.quota === undefined ? '' : `${key.quota.calls}`,
      period: key?.quota?.period ?? 'day',
    }),
    inputOf: ({ quota, period }) =>
      quota === '' ? {} : { quota: { calls: Number(quota), period } },
    Controls: ({ draft, error, onPatch }) => (
      <div className="row">
        <TextField
          label={w.form.quota}
          hint={w.form.quotaHint}
          error={fieldError(error, 'quota')}
          inputMode="numeric"
          pattern="[0-9]*"
          value={draft.quota}
          onValue={(quota) => onPatch({ quota })}
        />
        <Select
          auto
          aria-label={w.form.quota}
          value={draft.period}
          options={quotaPeriods.map((value) => ({ value, label: w.form.per[value] }))}
          onValue={(period) => onPatch({ period: chosenOf(quotaPeriods, period) })}
        />
      </div>
    ),
    card: 'limits',
    fact: ({ quota }) => [
      w.detail.quota,
      quota === undefined ? w.detail.noQuota : w.detail.quotaText(count(quota.calls), quota.period),
    ],
  },

  labels: {
    draftOf: (key) => ({ labels: labelLines(key?.labels ?? {}) }),
    inputOf: ({ labels: typed }) => {
      const { labels } = readLabels(typed)
      return Object.keys(labels).length === 0 ? {} : { labels }
    },
    Controls: ({ draft, error, onPatch }) => (
      <TextArea
        label={w.labels.title}
        hint={w.labels.hint}
        error={fieldError(error, 'labels')}
        wrong={readLabels(draft.labels).wrong}
        code
        rows={2}
        value={draft.labels}
        onValue={(labels) => onPatch({ labels })}
      />
    ),
    card: 'facts',
    fact: ({ labels }, organization) => [
      w.labels.title,
      labels === undefined ? w.labels.none : <Labels {...{ organization, labels }} />,
    ],
  },
}

const everyField = Object.values(keyFields)

/**
 * The methods of each granted target, merged if a key has several grants of the target; an empty list means all
 * methods.
 */
function methodsByTarget(grants: readonly Grant[]): FieldsDraft['grants'] {
  const ofTarget = Map.groupBy(grants, ({ target }) => target)
  return Object.fromEntries(
    [...ofTarget].map(([target, same]) => {
      const isAll = same.some(({ methods = [] }) => methods.length === 0)
      return [target, isAll ? [] : [...new Set(same.flatMap(({ methods = [] }) => methods))]]
    }),
  )
}

function grantOf([target, methods]: readonly [string, readonly Method[]]): Grant {
  return methods.length === 0 ? { target } : { target, methods: [...methods] }
}

const dayMs = 86_400_000

export interface KeyDraft extends FieldsDraft {
  readonly name: string
  /** Days from now; '' means no expiry, and 'now' in the form for editing keeps the current expiry. */
  readonly days: string
}

/** The form's initial values for `key`, or for a new key if `key` is undefined; `days` is '90' in both cases. */
export function draftOf(key?: Key): KeyDraft {
  const parts = everyField.map((field) => field.draftOf(key))
  return Object.assign({ name: key?.name ?? '', days: '90' }, ...parts) as KeyDraft
}

export function inputOf(draft: KeyDraft, before?: Key): KeyBody {
  const ends = draft.days !== '' && Number.isFinite(Number(draft.days))
  return {
    name: draft.name.trim(),
    ...(ends
      ? { expires_at: new Date(Date.now() + Number(draft.days) * dayMs).toISOString() }
      : {}),
    ...(Object.assign({}, ...everyField.map((field) => field.inputOf(draft, before))) as object),
  }
}

/** Returns all editable fields of a key, because an edit replaces them all. */
export function bodyOf(key: Key): KeyBody {
  const names = ['name', 'expires_at', ...Object.keys(keyFields)] as readonly (keyof KeyBody)[]
  return Object.fromEntries(names.map((name) => [name, key[name]])) as unknown as KeyBody
}

export function KeyFields(props: ControlsProps) {
  return Object.entries(keyFields).map(([name, { Controls }]) => <Controls key={name} {...props} />)
}

export function factsOf(
  key: Key,
  { card, organization }: { readonly card: Card; readonly organization: string },
): readonly (readonly [string, ReactNode])[] {
  return everyField.flatMap((field) =>
    field.card === card && field.fact !== undefined ? [field.fact(key, organization)] : [],
  )
}
