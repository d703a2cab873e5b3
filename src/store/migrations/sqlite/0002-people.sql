create table "user" (
  id text primary key,
  name text not null,
  email text,
  email_key text,
  created_at integer not null,
  last_seen_at integer,
  deactivated_at integer,
  version integer not null default 1,
  -- The organization whose directory or provider wrote the address: there it counts, elsewhere only once the organization
  -- has proven the domain. Null: proven for the whole installation.
  email_organization_id text
) strict;
create index user_by_email on "user" (email_key) where email_key is not null;

-- Who somebody is at a provider. connection_id is '' for the built-in providers: an organization's own identity
-- provider never reaches an identity of another one.
create table identity (
  id text primary key,
  user_id text not null references "user" (id),
  provider text not null,
  connection_id text not null default '',
  issuer text not null,
  subject text not null,
  email text,
  email_verified integer not null default 0 check (email_verified in (0, 1)),
  name text,
  created_at integer not null,
  last_used_at integer,
  -- What no owner stands behind in this link: the connection or the directory that it came through.
  awaits_owner text check (awaits_owner in ('connection', 'directory')),
  -- The client under which a provider with pairwise subjects knew the identity before the connection got another client.
  former_client_id text,
  unique (connection_id, issuer, subject)
) strict;
create index identity_user on identity (user_id);

create table membership (
  id text primary key,
  organization_id text not null references organization (id),
  user_id text not null references "user" (id),
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  source text not null,
  created_at integer not null,
  deactivated_at integer,
  version integer not null default 1,
  unique (organization_id, user_id)
) strict;
create index membership_user on membership (user_id);

create table invitation (
  id text primary key,
  organization_id text not null references organization (id),
  email text not null,
  email_key text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  digest text not null unique,
  created_at integer not null,
  created_by text,
  expires_at integer not null,
  accepted_at integer,
  accepted_by text,
  revoked_at integer
) strict;
create index invitation_organization on invitation (organization_id, id);
create index invitation_email on invitation (email_key) where accepted_at is null and revoked_at is null;

-- The row decides: a token whose row is ended is worth nothing, whatever its signature says.
create table session (
  id text primary key,
  user_id text not null references "user" (id),
  digest text not null unique,
  provider text not null,
  identity_id text,
  connection_id text,
  signed_in_at integer not null,
  expires_at integer not null,
  last_seen_at integer not null,
  address text,
  agent text,
  ended_at integer,
  ended_by text,
  end_reason text
) strict;
create index session_of_user on session (user_id, id);
create index session_expiry on session (expires_at);

-- Links that the operator prints: the first owner's, and the break-glass one.
create table sign_in_link (
  digest text primary key,
  kind text not null check (kind in ('setup', 'sign_in')),
  user_id text references "user" (id),
  created_at integer not null,
  expires_at integer not null,
  used_at integer
) strict;

-- What may happen once: transactions of sign-ins, hand-over codes.
create table used_once (
  digest text primary key,
  expires_at integer not null
) strict;
create index used_once_expiry on used_once (expires_at);

-- Answers to creations that were sent with an Idempotency-Key; sealed, for some hold a secret that is shown once.
create table idempotent_answer (
  user_id text not null,
  key_digest text not null,
  route text not null,
  request_digest text not null,
  status integer,
  answer_sealed text,
  created_at integer not null,
  primary key (user_id, key_digest)
) strict;
create index idempotent_answer_created on idempotent_answer (created_at);

-- Credentials of programs that administer an organization; without an organization they are the operator's.
create table access_token (
  id text primary key,
  organization_id text references organization (id),
  name text not null,
  digest text not null unique,
  hint text not null,
  permissions text not null,
  cidrs text,
  created_at integer not null,
  created_by text,
  creator_user_id text references "user" (id),
  expires_at integer,
  expiring_announced_at integer,
  last_used_at integer,
  last_used_address text,
  last_used_agent text,
  revoked_at integer,
  revoked_by text
) strict;
create index access_token_organization on access_token (organization_id, id);
create index access_token_expiry on access_token (expires_at) where expires_at is not null and revoked_at is null;
create index access_token_issuer on access_token (organization_id, created_by);
