import { guides } from '../../../words/en/sso-guides.ts'
import { ssoWords } from '../../../words/en/sso.ts'
import type { ConnectionKind } from '../../api/sso.ts'
import classes from './sso.module.css'

/** The steps at a provider, numbered, in its own words. */
export function Guide({
  kind,
  part,
}: {
  readonly kind: ConnectionKind
  readonly part: 'connection' | 'directory'
}) {
  return (
    <>
      <ol className={classes.guide}>
        {guides[kind][part].map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p>
        <a href={`/guides/${pages[part][kind]}`} target="_blank" rel="noreferrer">
          {ssoWords.connection.wholeGuide}
        </a>
      </p>
    </>
  )
}

/** The pages of docs/guides, as the server shows them. */
const pages: Readonly<
  Record<'connection' | 'directory', Readonly<Record<ConnectionKind, string>>>
> = {
  connection: {
    okta: 'sso-okta',
    entra: 'sso-entra',
    google: 'sso-google',
    other: 'sso-openid-connect',
  },
  directory: { okta: 'scim-okta', entra: 'scim-entra', google: 'scim-google', other: 'scim' },
}
