import { Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router'
import {
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useRef,
  useState,
  type ReactNode,
  type RefObject,
} from 'react'
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
import { MembershipContext, may, membershipOf, type Membership } from './membership.ts'
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
  // The pages about the person keep the navigation of the organization that was last open.
  const membership = organization === undefined ? lastOrganization(me) : here
  useEffect(() => {
    if (here !== undefined) rememberOrganization(here.slug)
  }, [here])
  const main = useRef<HTMLElement>(null)
  const [utc] = useUtc()
  useKeptFocus(main)
  const { floating, float, close } = useFloating(membership)
  const navigation = (
    <Navigation
      me={me}
      membership={membership}
      openPalette={() => float('palette')}
      openHelp={() => float('help')}
    />
  )
  const unknown = organization !== undefined && here === undefined
  return (
    <MembershipContext value={{ me, membership }}>
      <Skip to={main} />
      <div className={classes.frame}>
        {navigation}
        <header className={classes.top}>
          <Button
            look="quiet"
            icon="menu"
            aria-label={frameWords.openMenu}
            onClick={() => float('menu')}
          />
          <Brand />
          <Switcher me={me} membership={membership} />
        </header>
        <div>
          <TroubleBanner />
          <main id="main" ref={main} tabIndex={-1} className={classes.main}>
            {/* Formatted times depend on the time zone, so changing the zone renders the whole page again. */}
            {unknown ? <NotFound /> : <Outlet key={utc ? 'utc' : 'local'} />}
          </main>
        </div>
      </div>
      <Floating floating={floating} membership={membership} onClose={close}>
        {navigation}
      </Floating>
      <SignedOut />
      <TimeTips />
    </MembershipContext>
  )
}

type FloatingName = 'palette' | 'help' | 'menu'

/** Tracks which dialog is open over the page, and handles the shortcuts that work on every page. */
function useFloating(membership: Membership | undefined) {
  const navigate = useNavigate()
  const [floating, setFloating] = useState<FloatingName>()
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
  return { floating, float: setFloating, close: useCallback(() => setFloating(undefined), []) }
}

function Floating({
  floating,
  membership,
  onClose,
  children,
}: {
  readonly floating: FloatingName | undefined
  readonly membership: Membership | undefined
  readonly onClose: () => void
  /** The navigation, which slides in on a phone. */
  readonly children: ReactNode
}) {
  // The drawer stays mounted once it has been opened, so that its closing can be animated.
  const [sheetSeen, setSheetSeen] = useState(false)
  if (floating === 'menu' && !sheetSeen) setSheetSeen(true)
  return (
    <Suspense fallback={undefined}>
      {sheetSeen ? (
        <Sheet open={floating === 'menu'} onClose={onClose}>
          {children}
        </Sheet>
      ) : undefined}
      {floating === 'palette' && membership !== undefined ? (
        <Palette membership={membership} onClose={onClose} />
      ) : undefined}
      {floating === 'help' ? <Help onClose={onClose} /> : undefined}
    </Suspense>
  )
}

function Skip({ to }: { readonly to: RefObject<HTMLElement | null> }) {
  return (
    <a
      href="#main"
      className={classes.skip}
      onClick={(event) => {
        event.preventDefault()
        to.current?.focus()
      }}
    >
      {frameWords.skip}
    </a>
  )
}

function focusSearch(): boolean {
  const box = document.querySelector<HTMLInputElement>('[data-filter-search]')
  box?.focus()
  box?.select()
  return box !== null
}
