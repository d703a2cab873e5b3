import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router'
import { Frame } from './frame/Frame.tsx'
import { NotFound, PageFailed } from './frame/NotFound.tsx'
import { whole } from './parts/upgrade.ts'
import { Loading } from './parts/States.tsx'

/** The search parameters in which a page keeps its state: optional strings. */
type Search<Name extends string> = { readonly [N in Name]?: string | undefined }

/** Creates a parser that keeps the named search parameters if they are non-empty strings, and drops everything else. */
function texts<Name extends string>(...names: readonly Name[]) {
  return (raw: Record<string, unknown>): Search<Name> =>
    Object.fromEntries(
      names.flatMap((name) =>
        typeof raw[name] === 'string' && raw[name] !== '' ? [[name, raw[name]]] : [],
      ),
    ) as Search<Name>
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: texts('return_to', 'error', 'request_id'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/entry/SignIn.tsx')),
    'SignIn',
  ),
})
const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  validateSearch: texts('token', 'step', 'organization', 'key'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/entry/Setup.tsx')),
    'Setup',
  ),
})
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$token',
  component: lazyRouteComponent(
    whole(async () => await import('./pages/entry/Invitation.tsx')),
    'Invitation',
  ),
})

const frame = createRoute({ getParentRoute: () => root, id: 'frame', component: Frame })
const home = createRoute({
  getParentRoute: () => frame,
  path: '/',
  component: lazyRouteComponent(
    whole(async () => await import('./pages/entry/Home.tsx')),
    'Home',
  ),
})
const welcome = createRoute({
  getParentRoute: () => frame,
  path: '/welcome',
  component: lazyRouteComponent(
    whole(async () => await import('./pages/entry/Welcome.tsx')),
    'Welcome',
  ),
})
const you = createRoute({
  getParentRoute: () => frame,
  path: '/you',
  validateSearch: texts('link'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/you/You.tsx')),
    'You',
  ),
})

const organization = createRoute({ getParentRoute: () => frame, path: '/o/$organization' })
const overview = createRoute({
  getParentRoute: () => organization,
  path: '/',
  validateSearch: texts('range', 'from', 'to'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/overview/Overview.tsx')),
    'Overview',
  ),
})
const calls = createRoute({
  getParentRoute: () => organization,
  path: '/calls',
  validateSearch: texts(
    'q',
    'target',
    'key',
    'stopped_at',
    'outcome',
    'status',
    'method',
    'path',
    'address',
    'range',
    'from',
    'to',
    'call',
    'live',
  ),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/calls/Calls.tsx')),
    'Calls',
  ),
})
const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  validateSearch: texts('q', 'state', 'label', 'sort', 'issue'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/keys/Keys.tsx')),
    'Keys',
  ),
})
const key = createRoute({
  getParentRoute: () => organization,
  path: '/keys/$key',
  validateSearch: texts('range', 'from', 'to', 'do'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/keys/KeyPage.tsx')),
    'KeyPage',
  ),
})
const targets = createRoute({
  getParentRoute: () => organization,
  path: '/targets',
  validateSearch: texts('q', 'add'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/targets/Targets.tsx')),
    'Targets',
  ),
})
const target = createRoute({
  getParentRoute: () => organization,
  path: '/targets/$target',
  validateSearch: texts('tab', 'key', 'method', 'path', 'address', 'range', 'from', 'to'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/targets/TargetPage.tsx')),
    'TargetPage',
  ),
})
const webhooks = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks',
  validateSearch: texts('add'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/webhooks/Endpoints.tsx')),
    'Endpoints',
  ),
})
const deliveries = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks/deliveries',
  validateSearch: texts('endpoint', 'state', 'type', 'event', 'from', 'to', 'delivery'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/webhooks/Deliveries.tsx')),
    'Deliveries',
  ),
})
const types = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks/types',
  validateSearch: texts('type'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/webhooks/Types.tsx')),
    'Types',
  ),
})
const secret = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks/secret',
  component: lazyRouteComponent(
    whole(async () => await import('./pages/webhooks/Secret.tsx')),
    'Secret',
  ),
})
const endpoint = createRoute({
  getParentRoute: () => organization,
  path: '/webhooks/$endpoint',
  validateSearch: texts('delivery'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/webhooks/EndpointPage.tsx')),
    'EndpointPage',
  ),
})
const operation = createRoute({
  getParentRoute: () => organization,
  path: '/operations/$operation',
  component: lazyRouteComponent(
    whole(async () => await import('./pages/webhooks/Operation.tsx')),
    'Operation',
  ),
})
const members = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  validateSearch: texts('q', 'role', 'tab'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/members/Members.tsx')),
    'Members',
  ),
})
const member = createRoute({
  getParentRoute: () => organization,
  path: '/members/$member',
  component: lazyRouteComponent(
    whole(async () => await import('./pages/members/Member.tsx')),
    'Member',
  ),
})
const sso = createRoute({
  getParentRoute: () => organization,
  path: '/sso',
  validateSearch: texts('tab', 'test'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/sso/Sso.tsx')),
    'Sso',
  ),
})
const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: texts('q', 'actor', 'action', 'subject', 'from', 'to', 'entry'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/audit/Audit.tsx')),
    'Audit',
  ),
})
const settings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  component: lazyRouteComponent(
    whole(async () => await import('./pages/settings/Settings.tsx')),
    'Settings',
  ),
})

const accessTokens = createRoute({
  getParentRoute: () => organization,
  path: '/settings/access-tokens',
  validateSearch: texts('issue'),
  component: lazyRouteComponent(
    whole(async () => await import('./pages/settings/AccessTokens.tsx')),
    'AccessTokens',
  ),
})

// Shows an unknown path below an organization as "not found" inside the frame, so that the navigation stays visible.
const nothing = createRoute({
  getParentRoute: () => organization,
  path: '/$',
  component: NotFound,
})

const tree = root.addChildren([
  signIn,
  setup,
  invitation,
  frame.addChildren([
    home,
    welcome,
    you,
    organization.addChildren([
      overview,
      calls,
      keys,
      key,
      targets,
      target,
      webhooks,
      deliveries,
      types,
      secret,
      endpoint,
      operation,
      members,
      member,
      sso,
      audit,
      settings,
      accessTokens,
      nothing,
    ]),
  ]),
])

/** The code of a page is loaded when somebody opens the page or points at a link to it. */
export function createAppRouter() {
  return createRouter({
    routeTree: tree,
    defaultPreload: 'intent',
    defaultPreloadDelay: 80,
    defaultPendingComponent: Loading,
    defaultErrorComponent: PageFailed,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch,
  })
}

function stringifySearch(search: Record<string, unknown>): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(search))
    if (typeof value === 'string' && value !== '') text.set(name, value)
  return text.size === 0 ? '' : `?${text.toString()}`
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
