interface Guide {
  readonly name: string
  readonly issuerExample: string
  /** The steps at the provider to set up sign-in; our URLs are shown next to them. */
  readonly connection: readonly string[]
  /** The steps at the provider to set up the directory. */
  readonly directory: readonly string[]
}

/** The steps at each provider, quoting the labels of its console. */
export const guides = {
  okta: {
    name: 'Okta',
    issuerExample: 'https://acme.okta.com',
    connection: [
      'Admin console → Applications → Create App Integration → OIDC - OpenID Connect → Web Application.',
      'Grant type: Authorization Code. Sign-in redirect URIs: the redirect address.',
      'Assignments: choose the people or groups who may come in, then Save.',
      'General → Edit → Login initiated by: Either Okta or App; Login flow: Redirect to app; Initiate login URI: the initiate-login address.',
      'For groups: Sign On → OpenID Connect ID Token → Groups claim filter: groups, Matches regex .*',
      'Copy Client ID and Client secret from the General tab. The issuer is your Okta domain with https://.',
    ],
    directory: [
      'Applications → Browse App Catalog → SCIM 2.0 Test App (OAuth Bearer Token) → Add, or your own app with SCIM switched on.',
      'Provisioning → Configure API Integration → Enable. SCIM 2.0 Base Url: the base address. OAuth Bearer Token: the token.',
      'Test API Credentials, then Save. Provisioning → To App → Edit: Create Users, Update User Attributes, Deactivate Users.',
      'Assignments: the same people as for the sign-in. Push Groups: the groups that give roles here, not those of the assignment.',
    ],
  },
  entra: {
    name: 'Microsoft Entra',
    issuerExample: 'https://login.microsoftonline.com/<tenant id>/v2.0',
    connection: [
      'Entra admin center → App registrations → New registration; single tenant. Redirect URI: Web, the redirect address.',
      'Overview: copy Application (client) ID and Directory (tenant) ID. The issuer is https://login.microsoftonline.com/<tenant id>/v2.0',
      'Certificates & secrets → New client secret: copy its Value, not its Secret ID.',
      'Token configuration → Add optional claim → ID: email, and xms_edov (by the manifest where the list lacks it).',
      'Token configuration → Add groups claim → Groups assigned to the application, as Group ID.',
      'Enterprise applications → this app → Properties: Assignment required = Yes, then assign people or groups.',
    ],
    directory: [
      'Enterprise applications → New application → Create your own application (Non-gallery): an app registration has no provisioning. Then Provisioning → New configuration.',
      'Tenant URL: the base address. Secret token: the token. Test Connection, then Create.',
      'Attribute mapping, users: set externalId to objectId (it is mailNickname at first), so that sign-ins (oid) are recognised.',
      'Users and groups: assign who shall be here. Overview → Start provisioning. Entra works in cycles of 40 minutes; Provision on demand is at once.',
    ],
  },
  google: {
    name: 'Google Workspace',
    issuerExample: 'https://accounts.google.com',
    connection: [
      'Google Cloud console → Google Auth Platform → Audience: Internal.',
      'Clients → Create client → Web application. Authorized redirect URIs: the redirect address.',
      'Copy Client ID and Client secret. The issuer is https://accounts.google.com',
      'Google sends no groups: give roles here, or use a directory.',
    ],
    directory: [
      'Google Workspace provisions only to apps of its catalogue. Use another directory (Okta, Entra, JumpCloud) or let people join by their verified domain.',
    ],
  },
  other: {
    name: 'your provider',
    issuerExample: 'https://id.acme.com',
    connection: [
      'Make a confidential client (web application) with the authorization code flow and PKCE.',
      'Register the redirect address exactly as it stands here.',
      'Register the initiate-login address if people shall start from the provider’s portal, and the back-channel logout address if the provider supports it.',
      'Copy the client id and the secret. The issuer is the address before /.well-known/openid-configuration.',
    ],
    directory: [
      'Make a SCIM 2.0 connection with the base address and the token as its bearer token.',
      'Use the provider’s connection test: its request appears below.',
      'Send users and groups. Groups can give roles, see Roles.',
    ],
  },
} as const satisfies Readonly<Record<string, Guide>>

/** The steps at directories that are used only for provisioning. */
export const directoryGuides = {
  jumpcloud: [
    'Admin Portal → SSO Applications → Add New Application → Custom Application, with Export users to this app (Identity Management).',
    'Identity Management: SCIM 2.0. Base URL: the base address. Token Key: the token. Test User Email: an address that nobody here has.',
    'Switch Group Management on if groups shall give roles. Test Connection makes a test user and a test group and deletes both; then Activate.',
    'User Groups: choose the groups whose people shall be here.',
  ],
  onelogin: [
    'Applications → Add App → SCIM Provisioner with SAML (SCIM v2 Enterprise).',
    'Configuration: SCIM Base URL is the base address, SCIM Bearer Token the token. Take the JSON template of the whole guide, then API Connection → Enable.',
    'Parameters: scimusername = Email. For groups: Groups → Include in User Provisioning, with a rule that sets them.',
    'Provisioning: Enable provisioning; when users are deleted or lose the app: Delete; when they are suspended: Suspend.',
  ],
  pingone: [
    'Integrations → Provisioning → + → New Connection → Identity Store → SCIM Outbound.',
    'SCIM Base URL: the base address. Users Resource: /Users, Groups Resource: /Groups, version 2.0. Authentication: OAuth 2 Bearer Token, with the token as the access token.',
    'User Filter Expression: userName Eq "%s". User Identifier: userName. Remove Action: Disable or Delete. Test connection, then Save.',
    'Rules → New Rule: the connection, a user filter, the attribute mapping with User ID to externalId. Switch both on.',
  ],
} as const
