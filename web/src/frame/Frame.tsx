import { Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { frameWords } from '../../words/en.ts'
import { useMe, type Me } from '../api/me.ts'
import { Button } from '../parts/Button.tsx'
import { Brand } from '../parts/Line.tsx'
import { Loading, ProblemNotice } from '../parts/States.tsx'
import { TimeTips } from '../parts/Time.tsx'
import { useUtc } from '../parts/zone.ts'
import classes from './frame.module.css'
import { useKeptFocus } from './kept-focus.ts'
import { lastOrganization, rememberOrganization } from './last-organization.ts'
import { MembershipContext, may, membershipOf } from './membership.ts'
import { Navigation, places, Switcher } from './Navigation.tsx'
import { NotFound } from './NotFound.tsx'
import { SignedOut, TroubleBanner } from './Presence.tsx'
import { useShortcuts } from './shortcuts.ts'
import { whole } from '../parts/upgrade.ts'

const Palette = lazy(async () => ({
  default: (await whole(async () => await import('./Palette.tsx'))()).Palette,
}))
const Sheet = lazy(async () => ({
  default: (await whole(async () => await import('./Sheet.tsx'))()).Sheet,
}))
const Help = lazy(async () => ({
  default: (await whole(async () => await import('./Help.tsx'))()).Help,
}))

/** Everything around a page of somebody who is signed in. */
export function Frame() {
  const me = useMe()
  const navigate = useNavigate()
  const signedOut =
    me.error !== null && 'status' in me.error && me.error.status === 401 && me.data === undefined
  useEffect(() => {
    if (!signedOut) return
    const here = window.location.pathname + window.location.search
    void navigate({
      to: '/sign-in',
      search: here === '/' ? {} : { return_to: here },
      replace: true,
    })
  }, [signedOut, navigate])
  if (me.data !== undefined) return <SignedIn me={me.data} />
  if (me.isError && !signedOut) {
    return (
      <div className={classes.alone}>
        <Brand />
        <div className={classes.aloneBody}>
          <ProblemNotice error={me.error} retry={() => void me.refetch()} />
        </div>
      </div>
    )
  }
  return <Loading />
}

function SignedIn({ me }: { readonly me: Me }) {
  const { organization } = useParams({ strict: false })
  const here = membershipOf(me, organization)
  // Pages about the person keep the navigation of the organization that was open last.
  const membership = organization === undefined ? lastOrganization(me) : here
  useEffect(() => {
    if (here !== undefined) rememberOrganization(here.slug)
  }, [here])
  const [floating, setFloating] = useState<'palette' | 'help' | 'menu'>()
  // Once opened it stays, so that it can also slide out.
  const [sheetSeen, setSheetSeen] = useState(false)
  const close = useCallback(() => setFloating(undefined), [])
  const navigate = useNavigate()
  const main = useRef<HTMLElement>(null)
  const [utc] = useUtc()
  const zone = utc ? 'utc' : 'local'
  useKeptFocus(main)
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname })

  useEffect(() => setFloating(undefined), [path])
  useShortcuts(
    useCallback(
      (key: string) => {
        if (key === 'mod+k' && membership !== undefined) setFloating('palette')
        else if (key === '?') setFloating('help')
        else if (key === '/') return focusSearch()
        else if (key.startsWith('g ') && membership !== undefined) {
          const place = places.find((one) => `g ${one.key}` === key && may(membership, one.deps))
          if (place === undefined) return false
          void navigate({ to: place.to, params: { organization: membership.slug } })
        } else return false
        return true
      },
      [membership, navigate],
    ),
  )

  const navigation = (
    <Navigation
      me={me}
      membership={membership}
      openPalette={() => setFloating('palette')}
      openHelp={() => setFloating('help')}
    />
  )
  const unknown = organization !== undefined && here === undefined
  return (
    <MembershipContext value={{ me, membership }}>
      <a
        href="#main"
        className={classes.skip}
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        {frameWords.skip}
      </a>
      <div className={classes.frame}>
        {navigation}
        <header className={classes.top}>
          <Button
            look="quiet"
            icon="menu"
            aria-label={frameWords.openMenu}
            onClick={() => {
              setSheetSeen(true)
              setFloating('menu')
            }}
          />
          <Brand />
          <Switcher me={me} membership={membership} />
        </header>
        <div>
          <TroubleBanner />
          <main id="main" ref={main} tabIndex={-1} className={classes.main}>
            {/* Times are formatted where they stand: in another zone the page is drawn anew. */}
            {unknown ? <NotFound /> : <Outlet key={zone} />}
          </main>
        </div>
      </div>
      <Suspense fallback={undefined}>
        {sheetSeen ? (
          <Sheet open={floating === 'menu'} onClose={close}>
            {navigation}
          </Sheet>
        ) : undefined}
        {floating === 'palette' && membership !== undefined ? (
          <Palette membership={membership} onClose={close} />
        ) : undefined}
        {floating === 'help' ? <Help onClose={close} /> : undefined}
      </Suspense>
      <SignedOut />
      <TimeTips />
    </MembershipContext>
  )
}

function focusSearch(): boolean {
  const box = document.querySelector<HTMLInputElement>('[data-filter-search]')
  box?.focus()
  box?.select()
  return box !== null
}
