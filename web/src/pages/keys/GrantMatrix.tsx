import { methods } from '../../api/choices.ts'
import type { Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { Icon } from '../../parts/Icon.tsx'
import classes from './grants.module.css'

export function GrantMatrix({ grants }: { readonly grants: NonNullable<Key['grants']> }) {
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={w.detail.grants}>
      <table className={classes.matrix}>
        <thead>
          <tr>
            <th scope="col">{w.detail.target}</th>
            {methods.map((method) => (
              <th key={method} scope="col">
                {method}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {grants.map((grant) => (
            <tr key={grant.target}>
              <th scope="row">
                <code>{grant.target}</code>
              </th>
              {methods.map((method) => (
                <td key={method}>
                  {grant.methods === undefined || grant.methods.includes(method) ? (
                    <>
                      <Icon name="check" />
                      <span className="visually-hidden">{w.detail.granted}</span>
                    </>
                  ) : (
                    <span className="visually-hidden">{w.detail.notGranted}</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
