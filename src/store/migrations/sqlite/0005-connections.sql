-- An organization's OpenID provider and how its answers are read.
create table connection (
  id text primary key,
  organization_id text not null references organization (id),
  name text not null,
  kind text not null check (kind in ('okta', 'entra', 'google', 'other')),
  issuer text not null,
  client_id text not null,
  credential_kind text not null check (credential_kind in ('secret', 'key')),
  credential_sealed text not null,
  public_jwk text,
  settings text not null,
  is_default integer not null default 0 check (is_default in (0, 1)),
  disabled_at integer,
  created_at integer not null,
  tested_at integer,
  last_used_at integer,
  last_refusal text,
  version integer not null default 1,
  -- Whether an owner or the operator saved the connection last: only such a connection signs an owner in unasked.
  set_by_owner integer not null default 0 check (set_by_owner in (0, 1))
) strict;
create index connection_organization on connection (organization_id, id);
create index connection_issuer on connection (issuer);

-- A walk through the flow that signs nobody in; its steps are written when the provider has answered.
create table connection_test (
  id text primary key,
  connection_id text not null references connection (id),
  organization_id text not null,
  user_id text not null,
  created_at integer not null,
  finished_at integer,
  passed integer check (passed in (0, 1)),
  result text
) strict;
create index connection_test_connection on connection_test (connection_id, id);

create table domain (
  id text primary key,
  organization_id text not null references organization (id),
  name text not null,
  challenge text not null,
  connection_id text references connection (id),
  created_at integer not null,
  verified_at integer,
  verified_by text check (verified_by in ('dns', 'operator')),
  lost_at integer,
  checked_at integer,
  next_check_at integer,
  seen text,
  unique (organization_id, name)
) strict;
create index domain_next_check on domain (next_check_at) where next_check_at is not null;

-- Who holds a domain: one organization at a time, by the primary key.
create table domain_holder (
  name text primary key,
  domain_id text not null references domain (id),
  organization_id text not null
) strict;

-- The provider's own name of a session of ours, for its back-channel logout.
create table provider_session (
  session_id text primary key,
  connection_id text not null,
  user_id text not null,
  subject text not null,
  provider_session text,
  expires_at integer not null,
  -- The id_token of a session whose end shall end the provider's own session: its hint, sealed.
  id_token_sealed text
) strict;
create index provider_session_subject on provider_session (connection_id, subject);
create index provider_session_expiry on provider_session (expires_at);
