/**
 * The documentation's sections. Each has its title and, in reading order, its pages: their paths below docs/ without
 * `.md`. A page's title is its first heading.
 */
export const sections: readonly (readonly [title: string, pages: readonly string[]])[] = [
  ['Start', ['index', 'start/tutorial', 'start/install']],
  [
    'Concepts',
    [
      'concepts/key',
      'concepts/target',
      'concepts/call',
      'concepts/limits',
      'concepts/revocation',
      'concepts/webhooks',
      'concepts/people',
      'concepts/sso',
      'concepts/scim',
      'concepts/many-nodes',
    ],
  ],
  [
    'How to',
    [
      'how-to/rotate-a-key',
      'how-to/key-leaked',
      'how-to/label-keys',
      'how-to/customers',
      'how-to/somebody-left',
      'how-to/put-it-before-an-api',
      'how-to/bearer-sdks',
      'how-to/agents',
      'how-to/migrate-keys',
      'how-to/beside-a-proxy',
      'how-to/verify-assertions',
      'guides/access-tokens',
      'guides/configuration',
      'guides/receive-webhooks',
      'guides/export-logs',
    ],
  ],
  [
    'Company sign-in',
    ['guides/sso-openid-connect', 'guides/sso-okta', 'guides/sso-entra', 'guides/sso-google'],
  ],
  [
    'Company directory',
    [
      'guides/scim',
      'guides/scim-okta',
      'guides/scim-entra',
      'guides/scim-google',
      'guides/scim-jumpcloud',
      'guides/scim-onelogin',
      'guides/scim-pingone',
    ],
  ],
  [
    'Operate',
    [
      'operate/deploy',
      'operate/sizing',
      'operate/upgrade',
      'operate/backup',
      'operate/audit-log',
      'operate/personal-data',
      'operate/disaster',
      'operate/postgresql',
      'operate/hardening',
      'operate/monitoring',
      'operate/logs-and-traces',
    ],
  ],
  [
    'Reference',
    [
      'reference/settings',
      'reference/commands',
      'reference/api',
      'reference/events',
      'reference/refusals',
      'reference/metrics',
      'reference/embedding',
    ],
  ],
  ['Troubleshooting', ['troubleshooting']],
]

/**
 * Returns a page's address on a node; guides and refusals have short ones of their own, because responses link to them.
 */
export function addressOf(page: string): string {
  if (page === 'index') return '/docs'
  return page.startsWith('guides/') || page.startsWith('problems/') ? `/${page}` : `/docs/${page}`
}
