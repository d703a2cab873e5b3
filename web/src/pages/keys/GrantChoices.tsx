import type { Method } from '../../api/choices.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { Check } from '../../parts/Field.tsx'
import { Methods } from '../../parts/Methods.tsx'

type Chosen = Readonly<Record<string, readonly Method[]>>

/** If no method is selected for a target, the key may use every method there. */
export function GrantChoices({
  slugs,
  grants,
  onGrants,
}: {
  readonly slugs: readonly string[]
  readonly grants: Chosen
  readonly onGrants: (grants: Chosen) => void
}) {
  return (
    <div className="stack-tight">
      {slugs.map((slug) => {
        const methods = grants[slug]
        return (
          <div key={slug} className="stack-tight">
            <Check
              label={<code>{slug}</code>}
              checked={methods !== undefined}
              onValue={(on) => {
                const { [slug]: _, ...others } = grants
                onGrants(on ? { ...grants, [slug]: [] } : others)
              }}
            />
            {methods === undefined ? undefined : (
              <Methods
                label={`${w.form.methods}: ${slug}`}
                value={methods}
                onValue={(chosen) => onGrants({ ...grants, [slug]: chosen })}
              />
            )}
          </div>
        )
      })}
    </div>
  )
}
