import { Link, useNavigate } from '@tanstack/react-router'
import { frameWords } from '../../words/en.ts'
import { endSession, type Me } from '../api/me.ts'
import { Icon, type IconName } from '../parts/Icon.tsx'
import { Brand } from '../parts/Line.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../parts/Menu.tsx'
import { sayRefused } from '../parts/Toasts.tsx'
import classes from './frame.module.css'
import { may, type Membership } from './membership.ts'
import { RunningOperation } from './RunningOperation.tsx'
import { useTheme } from './theme.ts'

/** The pages of an organization, each with its path, the key to press after `g`, and the required permission. */
export const places = [
  {
    name: 'overview',
    to: '/o/$organization',
    icon: 'overview',
    key: 'o',
    group: 'main',
    deps: 'traffic.see',
  },
  {
    name: 'calls',
    to: '/o/$organization/calls',
    icon: 'calls',
    key: 'c',
    group: 'main',
    deps: 'traffic.see',
  },
  {
    name: 'keys',
    to: '/o/$organization/keys',
    icon: 'keys',
    key: 'k',
    group: 'main',
    deps: 'traffic.see',
  },
  {
    name: 'targets',
    to: '/o/$organization/targets',
    icon: 'targets',
    key: 't',
    group: 'main',
    deps: 'traffic.see',
  },
  {
    name: 'webhooks',
    to: '/o/$organization/webhooks',
    icon: 'webhooks',
    key: 'w',
    group: 'main',
    deps: 'traffic.see',
  },
  {
    name: 'members',
    to: '/o/$organization/members',
    icon: 'members',
    key: 'm',
    group: 'organization',
    deps: 'traffic.see',
  },
  {
    name: 'sso',
    to: '/o/$organization/sso',
    icon: 'sso',
    key: 's',
    group: 'organization',
    deps: 'sso.manage',
  },
  {
    name: 'audit',
    to: '/o/$organization/audit',
    icon: 'audit',
    key: 'a',
    group: 'organization',
    deps: 'audit.see',
  },
  {
    name: 'settings',
    to: '/o/$organization/settings',
    icon: 'settings',
    key: ',',
    group: 'organization',
    deps: 'organization.manage',
  },
] as const

export function Navigation({
  me,
  membership,
  openPalette,
  openHelp,
}: {
  readonly me: Me
  readonly membership: Membership | undefined
  readonly openPalette: () => void
  readonly openHelp: () => void
}) {
  return (
    <header className={classes.side}>
      <Link to="/" className={classes.brandLink}>
        <Brand />
      </Link>
      <Switcher me={me} membership={membership} />
      {membership === undefined ? undefined : (
        <nav aria-label={frameWords.navigation} className={classes.nav}>
          <button type="button" className={classes.navLink} onClick={openPalette}>
            <Icon name="search" />
            {frameWords.search}
            <kbd>Ctrl K</kbd>
          </button>
          <Places membership={membership} group="main" />
          <div className={classes.navHead} aria-hidden="true">
            {frameWords.organizationGroup}
          </div>
          <Places membership={membership} group="organization" />
        </nav>
      )}
      <div className={classes.bottom}>
        {membership === undefined ? undefined : <RunningOperation />}
        <button type="button" className={classes.navLink} onClick={openHelp}>
          <Icon name="help" />
          {frameWords.help}
        </button>
        <You me={me} />
      </div>
    </header>
  )
}

function Places({
  membership,
  group,
}: {
  readonly membership: Membership
  readonly group: 'main' | 'organization'
}) {
  return places
    .filter((place) => place.group === group && may(membership, place.deps))
    .map((place) => (
      <PlaceLink
        key={place.name}
        to={place.to}
        name={place.name}
        icon={place.icon}
        slug={membership.slug}
      />
    ))
}

function PlaceLink({
  to,
  name,
  icon,
  slug,
}: {
  readonly to: (typeof places)[number]['to']
  readonly name: keyof typeof frameWords.pages
  readonly icon: IconName
  readonly slug: string
}) {
  return (
    <Link
      to={to}
      params={{ organization: slug }}
      className={classes.navLink}
      activeOptions={{ exact: name === 'overview', includeSearch: false }}
    >
      <Icon name={icon} />
      {frameWords.pages[name]}
    </Link>
  )
}

export function Switcher({
  me,
  membership,
}: {
  readonly me: Me
  readonly membership: Membership | undefined
}) {
  const trigger = (
    <button
      type="button"
      className={classes.switcher}
      aria-label={`${frameWords.switchOrganization}: ${membership?.name ?? frameWords.otherOrganizations}`}
    >
      <span>{membership?.name ?? frameWords.otherOrganizations}</span>
      <Icon name="chevron" />
    </button>
  )
  return (
    <Menu trigger={trigger} align="start">
      {me.organizations.map((one) => (
        <MenuItem
          key={one.id}
          render={<Link to="/o/$organization" params={{ organization: one.slug }} />}
          {...(one.id === membership?.id ? { icon: 'check' as const } : {})}
        >
          {one.name}
        </MenuItem>
      ))}
      {me.organizations.length === 0 ? undefined : <MenuLine />}
      <MenuItem render={<Link to="/welcome" />}>{frameWords.otherOrganizations}</MenuItem>
    </Menu>
  )
}

function You({ me }: { readonly me: Me }) {
  const [theme, choose] = useTheme()
  const navigate = useNavigate()
  const trigger = (
    <button type="button" className={classes.navLink}>
      <Icon name="user" />
      <span className="break">{me.name}</span>
    </button>
  )
  async function signOut() {
    try {
      const providerLogout = await endSession()
      if (providerLogout !== undefined) {
        window.location.assign(providerLogout)
        return
      }
      await navigate({ to: '/sign-in' })
      window.location.reload()
    } catch (error) {
      sayRefused(error)
    }
  }
  return (
    <Menu trigger={trigger} side="top" align="start">
      <MenuItem icon="user" render={<Link to="/you" />}>
        {frameWords.pages.you}
      </MenuItem>
      <MenuLine />
      <MenuChoice
        label={frameWords.theme}
        value={theme}
        options={[
          { value: 'system', label: frameWords.themes.system },
          { value: 'light', label: frameWords.themes.light },
          { value: 'dark', label: frameWords.themes.dark },
        ]}
        onValue={(value) => choose(value === 'light' || value === 'dark' ? value : 'system')}
      />
      <MenuLine />
      <MenuItem icon="out" onClick={() => void signOut()}>
        {frameWords.signOut}
      </MenuItem>
    </Menu>
  )
}
