-- An organization's OpenID provider and how its answers are read.
create table connection (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  name text collate "C" not null,
  kind text collate "C" not null check (kind in ('okta', 'entra', 'google', 'other')),
  issuer text collate "C" not null,
  client_id text collate "C" not null,
  credential_kind text collate "C" not null check (credential_kind in ('secret', 'key')),
  credential_sealed text collate "C" not null,
  public_jwk text collate "C",
  settings text collate "C" not null,
  is_default bigint not null default 0 check (is_default in (0, 1)),
  disabled_at bigint,
  created_at bigint not null,
  tested_at bigint,
  last_used_at bigint,
  last_refusal text collate "C",
  version bigint not null default 1,
  -- Whether an owner or the operator saved the connection last: only such a connection signs an owner in unasked.
  set_by_owner bigint not null default 0 check (set_by_owner in (0, 1))
);
create index connection_organization on connection (organization_id, id);
create index connection_issuer on connection (issuer);

-- A walk through the flow that signs nobody in; its steps are written when the provider has answered.
create table connection_test (
  id text collate "C" primary key,
  connection_id text collate "C" not null references connection (id),
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  created_at bigint not null,
  finished_at bigint,
  passed bigint check (passed in (0, 1)),
  result text collate "C"
);
create index connection_test_connection on connection_test (connection_id, id);

create table domain (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  name text collate "C" not null,
  challenge text collate "C" not null,
  connection_id text collate "C" references connection (id),
  created_at bigint not null,
  verified_at bigint,
  verified_by text collate "C" check (verified_by in ('dns', 'operator')),
  lost_at bigint,
  checked_at bigint,
  next_check_at bigint,
  seen text collate "C",
  unique (organization_id, name)
);
create index domain_next_check on domain (next_check_at) where next_check_at is not null;

-- Who holds a domain: one organization at a time, by the primary key.
create table domain_holder (
  name text collate "C" primary key,
  domain_id text collate "C" not null references domain (id),
  organization_id text collate "C" not null
);

-- The provider's own name of a session of ours, for its back-channel logout.
create table provider_session (
  session_id text collate "C" primary key,
  connection_id text collate "C" not null,
  user_id text collate "C" not null,
  subject text collate "C" not null,
  provider_session text collate "C",
  expires_at bigint not null,
  -- The id_token of a session whose end shall end the provider's own session: its hint, sealed.
  id_token_sealed text collate "C"
);
create index provider_session_subject on provider_session (connection_id, subject);
create index provider_session_expiry on provider_session (expires_at);
