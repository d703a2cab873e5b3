create table "user" (
  id text collate "C" primary key,
  name text collate "C" not null,
  email text collate "C",
  email_key text collate "C",
  created_at bigint not null,
  last_seen_at bigint,
  deactivated_at bigint,
  version bigint not null default 1,
  -- The organization whose directory or provider wrote the address: there it counts, elsewhere only once the organization
  -- has proven the domain. Null: proven for the whole installation.
  email_organization_id text collate "C"
);
create index user_by_email on "user" (email_key) where email_key is not null;

-- Who somebody is at a provider. connection_id is '' for the built-in providers: an organization's own identity
-- provider never reaches an identity of another one.
create table identity (
  id text collate "C" primary key,
  user_id text collate "C" not null references "user" (id),
  provider text collate "C" not null,
  connection_id text collate "C" not null default '',
  issuer text collate "C" not null,
  subject text collate "C" not null,
  email text collate "C",
  email_verified bigint not null default 0 check (email_verified in (0, 1)),
  name text collate "C",
  created_at bigint not null,
  last_used_at bigint,
  -- What no owner stands behind in this link: the connection or the directory that it came through.
  awaits_owner text collate "C" check (awaits_owner in ('connection', 'directory')),
  -- The client under which a provider with pairwise subjects knew the identity before the connection got another client.
  former_client_id text collate "C",
  unique (connection_id, issuer, subject)
);
create index identity_user on identity (user_id);

create table membership (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  user_id text collate "C" not null references "user" (id),
  role text collate "C" not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  source text collate "C" not null,
  created_at bigint not null,
  deactivated_at bigint,
  version bigint not null default 1,
  unique (organization_id, user_id)
);
create index membership_user on membership (user_id);

create table invitation (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  email text collate "C" not null,
  email_key text collate "C" not null,
  role text collate "C" not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  digest text collate "C" not null unique,
  created_at bigint not null,
  created_by text collate "C",
  expires_at bigint not null,
  accepted_at bigint,
  accepted_by text collate "C",
  revoked_at bigint
);
create index invitation_organization on invitation (organization_id, id);
create index invitation_email on invitation (email_key) where accepted_at is null and revoked_at is null;

-- The row decides: a token whose row is ended is worth nothing, whatever its signature says.
create table session (
  id text collate "C" primary key,
  user_id text collate "C" not null references "user" (id),
  digest text collate "C" not null unique,
  provider text collate "C" not null,
  identity_id text collate "C",
  connection_id text collate "C",
  signed_in_at bigint not null,
  expires_at bigint not null,
  last_seen_at bigint not null,
  address text collate "C",
  agent text collate "C",
  ended_at bigint,
  ended_by text collate "C",
  end_reason text collate "C"
);
create index session_of_user on session (user_id, id);
create index session_expiry on session (expires_at);

-- Links that the operator prints: the first owner's, and the break-glass one.
create table sign_in_link (
  digest text collate "C" primary key,
  kind text collate "C" not null check (kind in ('setup', 'sign_in')),
  user_id text collate "C" references "user" (id),
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint
);

-- What may happen once: transactions of sign-ins, hand-over codes.
create table used_once (
  digest text collate "C" primary key,
  expires_at bigint not null
);
create index used_once_expiry on used_once (expires_at);

-- Answers to creations that were sent with an Idempotency-Key; sealed, for some hold a secret that is shown once.
create table idempotent_answer (
  user_id text collate "C" not null,
  key_digest text collate "C" not null,
  route text collate "C" not null,
  request_digest text collate "C" not null,
  status bigint,
  answer_sealed text collate "C",
  created_at bigint not null,
  primary key (user_id, key_digest)
);
create index idempotent_answer_created on idempotent_answer (created_at);

-- Credentials of programs that administer an organization; without an organization they are the operator's.
create table access_token (
  id text collate "C" primary key,
  organization_id text collate "C" references organization (id),
  name text collate "C" not null,
  digest text collate "C" not null unique,
  hint text collate "C" not null,
  permissions text collate "C" not null,
  cidrs text collate "C",
  created_at bigint not null,
  created_by text collate "C",
  creator_user_id text collate "C" references "user" (id),
  expires_at bigint,
  expiring_announced_at bigint,
  last_used_at bigint,
  last_used_address text collate "C",
  last_used_agent text collate "C",
  revoked_at bigint,
  revoked_by text collate "C"
);
create index access_token_organization on access_token (organization_id, id);
create index access_token_expiry on access_token (expires_at) where expires_at is not null and revoked_at is null;
create index access_token_issuer on access_token (organization_id, created_by);
