import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { signInOptionsQuery } from '../../api/entry.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { Alone } from '../../frame/Alone.tsx'
import { Button, buttonClass } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { TextField } from '../../parts/Field.tsx'
import { QueryState } from '../../parts/States.tsx'
import { Card, Notice } from '../../parts/Surface.tsx'

const w = entryWords.signIn
const here = getRouteApi('/sign-in')

/**
 * The ways to sign in are links or scripted navigations, because the page's content security policy would block a form
 * that is redirected to a provider.
 */
export function SignIn() {
  const { return_to: returnTo, error, request_id: requestId } = here.useSearch()
  const options = useQuery(signInOptionsQuery)
  const back = returnTo === undefined ? '' : `return_to=${encodeURIComponent(returnTo)}`
  return (
    <Alone title={w.title} lead={w.lead}>
      <Insecure base={options.data?.base_url} />
      {error === undefined ? undefined : (
        <Notice tone="refuse" title={w.problem}>
          <p>
            <a href={`/problems/${encodeURIComponent(error)}`}>{error}</a> {requestId}
          </p>
        </Notice>
      )}
      {options.data === undefined ? (
        <QueryState query={options} />
      ) : (
        <Card>
          <div className="stack">
            {options.data.providers.map((provider) => (
              <a
                key={provider}
                className={buttonClass('primary')}
                href={`/api/v1/auth/${provider}/login${back === '' ? '' : `?${back}`}`}
              >
                {w.with(w.providers[provider] ?? provider)}
              </a>
            ))}
            {options.data.providers.length === 0 ? <NoProvider /> : undefined}
            <CompanySignIn back={back} />
          </div>
        </Card>
      )}
    </Alone>
  )
}

function NoProvider() {
  return (
    <Notice title={w.none}>
      <p>{w.noneText}</p>
      <Snippet label="npx" text="npx interceptd sign-in-link you@example.com" />
    </Notice>
  )
}

function CompanySignIn({ back }: { readonly back: string }) {
  const [email, setEmail] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    const query = `email=${encodeURIComponent(email.trim())}${back === '' ? '' : `&${back}`}`
    window.location.assign(`/api/v1/auth/sso/login?${query}`)
  }
  return (
    <form className="stack" onSubmit={submit}>
      <TextField
        label={w.email}
        hint={w.emailHint}
        type="email"
        autoComplete="username"
        required
        value={email}
        onValue={setEmail}
      />
      <Button type="submit">{w.sso}</Button>
    </form>
  )
}

/** Warns on an insecure origin, because browsers keep a Secure cookie only over HTTPS and on loopback names. */
function Insecure({ base }: { readonly base: string | undefined }) {
  if (window.isSecureContext || base === undefined) return undefined
  return (
    <Notice tone="caution" title={w.insecure}>
      <p className="break">{w.insecureText(window.location.origin, base)}</p>
    </Notice>
  )
}
