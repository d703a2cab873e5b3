create table setting (
  name text primary key,
  value text not null
) strict;

create table organization (
  id text primary key,
  slug text not null unique,
  name text not null,
  plan text not null check (plan in ('standard', 'enterprise')),
  settings text not null default '{}',
  version integer not null default 1,
  created_at integer not null,
  deleted_at integer
) strict;

create table organization_head (
  organization_id text primary key,
  audit_sequence integer not null default 0,
  audit_hash text not null default '',
  event_sequence integer not null default 0
) strict;
insert into organization_head (organization_id) values ('system');

create table change (
  sequence integer primary key autoincrement,
  kind text not null,
  organization_id text not null,
  subject_id text not null,
  at integer not null
) strict;

create table node (
  id text primary key,
  started_at integer not null,
  heartbeat_at integer not null,
  seen_sequence integer not null
) strict;

create table api_key (
  id text primary key,
  organization_id text not null references organization (id),
  name text not null,
  scheme text not null check (scheme in ('x-api-key', 'bearer')),
  created_at integer not null,
  created_by text,
  personal_user_id text,
  grants text,
  cidrs text,
  rate_limit text,
  quota text,
  expires_at integer,
  revoked_at integer,
  revoked_by text,
  suspended_at integer,
  expiry_announced_at integer,
  last_used_at integer,
  last_used_address text,
  last_used_agent text,
  last_used_target_id text,
  version integer not null default 1
) strict;
create index api_key_organization on api_key (organization_id, id);
create index api_key_personal on api_key (personal_user_id) where personal_user_id is not null;
create index api_key_expiry on api_key (expires_at) where expires_at is not null and revoked_at is null;

create table key_secret (
  digest text primary key,
  key_id text not null references api_key (id),
  organization_id text not null,
  lookup text not null,
  hint text not null,
  created_at integer not null,
  valid_until integer,
  silent_announced_at integer,
  last_used_at integer,
  last_used_address text,
  last_used_agent text
) strict;
create index key_secret_key on key_secret (key_id);
create index key_secret_lookup on key_secret (lookup);
create index key_secret_overlap on key_secret (valid_until) where valid_until is not null;

create table target (
  id text primary key,
  organization_id text not null references organization (id),
  slug text not null,
  name text not null,
  upstream text not null,
  credential_header text,
  credential_sealed text,
  settings text not null default '{}',
  disabled_at integer,
  created_at integer not null,
  version integer not null default 1,
  unique (organization_id, slug)
) strict;

create table rule (
  id text primary key,
  target_id text not null references target (id),
  organization_id text not null,
  position integer not null,
  effect text not null check (effect in ('allow', 'deny')),
  methods text not null,
  path text not null,
  trial integer not null default 0 check (trial in (0, 1))
) strict;
create index rule_target on rule (target_id, position);

create table audit_entry (
  organization_id text not null,
  sequence integer not null,
  id text not null,
  at integer not null,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  action text not null,
  subject_kind text not null,
  subject_id text not null,
  detail text not null,
  address text,
  request_id text,
  previous_hash text not null,
  hash text not null,
  primary key (organization_id, sequence)
) strict;
create index audit_entry_at on audit_entry (at);
create index audit_entry_subject on audit_entry (organization_id, subject_id, sequence);

create table event (
  organization_id text not null,
  sequence integer not null,
  id text not null unique,
  type text not null,
  at integer not null,
  body blob not null,
  primary key (organization_id, sequence)
) strict;
create index event_at on event (at);

create table signing_key (
  id text primary key,
  public_jwk text not null,
  private_sealed text not null,
  created_at integer not null,
  retired_at integer
) strict;
create table "user" (
  id text primary key,
  name text not null,
  email text,
  email_key text,
  created_at integer not null,
  last_seen_at integer,
  deactivated_at integer,
  version integer not null default 1
) strict;
create index user_by_email on "user" (email_key) where email_key is not null;

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

create table sign_in_link (
  digest text primary key,
  kind text not null check (kind in ('setup', 'sign_in')),
  user_id text references "user" (id),
  created_at integer not null,
  expires_at integer not null,
  used_at integer
) strict;

create table used_once (
  digest text primary key,
  expires_at integer not null
) strict;
create index used_once_expiry on used_once (expires_at);

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
create table endpoint (
  id text primary key,
  organization_id text not null references organization (id),
  url text not null,
  description text not null default '',
  types text,
  headers_sealed text,
  header_names text not null default '[]',
  rate_per_second integer,
  ordered integer not null default 0 check (ordered in (0, 1)),
  public_key text,
  private_key_sealed text,
  created_at integer not null,
  created_by text,
  deleted_at integer,
  version integer not null default 1,
  state text not null default 'active' check (state in ('active', 'held', 'disabled')),
  disabled_reason text,
  failures integer not null default 0,
  failing_since integer,
  last_success_at integer,
  last_attempt_at integer,
  held_at integer,
  probe_at integer,
  probe_delay_ms integer,
  lease_owner text,
  lease_token integer not null default 0,
  lease_until integer
) strict;
create index endpoint_organization on endpoint (organization_id, id);

create table endpoint_count (
  endpoint_id text primary key references endpoint (id),
  organization_id text not null,
  committed integer not null default 0,
  removed_delivered integer not null default 0,
  removed_dead integer not null default 0,
  removed_skipped integer not null default 0
) strict;

create table delivery (
  id text primary key,
  organization_id text not null,
  endpoint_id text not null,
  event_sequence integer not null,
  event_id text not null,
  type text not null,
  state text not null check (state in ('pending', 'delivered', 'dead', 'skipped')),
  due_at integer not null,
  attempts integer not null default 0,
  attempts_ever integer not null default 0,
  version integer not null default 1,
  created_at integer not null,
  completed_at integer,
  last_attempt_at integer,
  last_status integer,
  last_failure text,
  skipped_reason text,
  operation_id text,
  unique (organization_id, event_sequence, endpoint_id)
) strict;
create index delivery_organization on delivery (organization_id, id);
create index delivery_due on delivery (endpoint_id, due_at, id) where state = 'pending';
create index delivery_state on delivery (endpoint_id, state, event_sequence);
create index delivery_operation on delivery (operation_id, state) where operation_id is not null;

create table attempt (
  id text primary key,
  delivery_id text not null,
  organization_id text not null,
  number integer not null,
  probe integer not null default 0 check (probe in (0, 1)),
  started_at integer not null,
  duration_ms integer not null,
  status integer,
  failure text,
  response_body blob,
  response_truncated integer not null default 0 check (response_truncated in (0, 1))
) strict;
create index attempt_delivery on attempt (delivery_id, id);

create table webhook_secret (
  id text primary key,
  organization_id text not null references organization (id),
  sealed text not null,
  hint text not null,
  created_at integer not null,
  valid_until integer
) strict;
create index webhook_secret_organization on webhook_secret (organization_id, created_at);

create table operation (
  id text primary key,
  organization_id text not null,
  kind text not null,
  state text not null check (state in ('running', 'paused', 'cancelled', 'done', 'failed')),
  parameters text not null,
  total integer not null,
  done integer not null default 0,
  cursor text not null default '',
  error text,
  created_at integer not null,
  created_by text,
  created_by_name text,
  updated_at integer not null,
  finished_at integer
) strict;
create index operation_organization on operation (organization_id, id);
create index operation_running on operation (id) where state = 'running';
create table directory (
  organization_id text primary key references organization (id),
  next_position integer not null default 1,
  last_request_at integer
) strict;

create table directory_token (
  id text primary key,
  organization_id text not null references organization (id),
  name text not null,
  digest text not null unique,
  hint text not null,
  created_at integer not null,
  created_by text,
  last_used_at integer,
  last_used_address text,
  last_used_agent text,
  revoked_at integer,
  revoked_by text
) strict;
create index directory_token_organization on directory_token (organization_id, id);

create table directory_user (
  id text primary key,
  organization_id text not null references organization (id),
  user_id text not null references "user" (id),
  position integer not null,
  user_name_key text not null,
  external_id text,
  active integer not null check (active in (0, 1)),
  attributes text not null,
  folded text not null,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict;
create unique index directory_user_position on directory_user (organization_id, position);
create unique index directory_user_name on directory_user (organization_id, user_name_key);
create index directory_user_external on directory_user (organization_id, external_id) where external_id is not null;
create index directory_user_person on directory_user (user_id);

create table directory_email (
  organization_id text not null,
  value_key text not null,
  directory_user_id text not null,
  primary key (organization_id, value_key, directory_user_id)
) strict, without rowid;
create index directory_email_user on directory_email (directory_user_id);

create table directory_departed (
  organization_id text not null,
  external_id text not null,
  directory_user_id text not null,
  user_id text not null,
  departed_at integer not null,
  primary key (organization_id, external_id)
) strict, without rowid;

create table directory_group (
  id text primary key,
  organization_id text not null references organization (id),
  position integer not null,
  display_name_key text not null,
  external_id text,
  attributes text not null,
  folded text not null,
  role text check (role in ('admin', 'developer', 'viewer')),
  members integer not null default 0,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict;
create unique index directory_group_position on directory_group (organization_id, position);
create index directory_group_name on directory_group (organization_id, display_name_key);
create index directory_group_external on directory_group (organization_id, external_id) where external_id is not null;

create table directory_member (
  group_id text not null,
  directory_user_id text not null,
  organization_id text not null,
  primary key (group_id, directory_user_id)
) strict, without rowid;
create index directory_member_user on directory_member (directory_user_id, group_id);

create table directory_count (
  organization_id text not null,
  kind text not null check (kind in ('user', 'group')),
  bucket integer not null,
  amount integer not null,
  primary key (organization_id, kind, bucket)
) strict, without rowid;

create table directory_walk (
  token_id text not null,
  query_digest text not null,
  next_index integer not null,
  next_place text not null,
  previous_index integer,
  previous_place text,
  at integer not null,
  primary key (token_id, query_digest)
) strict, without rowid;

create table directory_request (
  organization_id text not null,
  id text not null,
  token_id text not null,
  at integer not null,
  method text not null,
  path text not null,
  status integer not null,
  scim_type text,
  detail text,
  sent text,
  duration_us integer not null,
  address text,
  agent text,
  primary key (organization_id, id)
) strict, without rowid;
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
  version integer not null default 1
) strict;
create index connection_organization on connection (organization_id, id);
create index connection_issuer on connection (issuer);

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

create table domain_holder (
  name text primary key,
  domain_id text not null references domain (id),
  organization_id text not null
) strict;

create table provider_session (
  session_id text primary key,
  connection_id text not null,
  user_id text not null,
  subject text not null,
  provider_session text,
  expires_at integer not null
) strict;
create index provider_session_subject on provider_session (connection_id, subject);
create index provider_session_expiry on provider_session (expires_at);
alter table connection add column set_by_owner integer not null default 0 check (set_by_owner in (0, 1));
drop table directory_walk;
create table key_straggler (
  digest text not null references key_secret (digest),
  address text not null,
  agent text not null,
  organization_id text not null,
  key_id text not null,
  target_id text,
  calls integer not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  primary key (digest, address, agent)
) strict;
create index key_straggler_key on key_straggler (key_id);
create index key_straggler_seen on key_straggler (last_seen_at);
alter table directory_user add column shared_external_id text not null default '';
update directory_user set shared_external_id = id
where external_id is not null and exists (
  select 1 from directory_user as other
  where other.organization_id = directory_user.organization_id
    and other.external_id = directory_user.external_id and other.id <> directory_user.id
);
drop index directory_user_external;
create unique index directory_user_external on directory_user (organization_id, external_id, shared_external_id)
where external_id is not null;
alter table change add column token text not null default '';

alter table node add column seen_token text not null default '';
alter table node add column beats integer not null default 0;

create table database_server (
  only_row integer primary key check (only_row = 1),
  identity text not null,
  since integer not null
) strict;
alter table "user" add column email_organization_id text;
update "user" set email_organization_id =
  (select min(organization_id) from directory_user
    where directory_user.user_id = "user".id and directory_user.created_at = "user".created_at)
  where email_key is not null;

alter table identity add column awaits_owner text check (awaits_owner in ('connection', 'directory'));
update identity set awaits_owner = 'connection'
  where connection_id in (select id from connection where set_by_owner = 0);
alter table directory_request add column ignored text;
alter table directory_request add column resource_id text;
alter table organization_head add column audit_seal text not null default 'unsealed';
alter table target add column otherwise text;

update target set otherwise = 'refuse'
where exists (select 1 from rule where rule.target_id = target.id and rule.trial = 0)
  and not exists (
    select 1 from rule
    where rule.target_id = target.id and rule.trial = 0 and rule.effect = 'allow'
  );
alter table provider_session add column id_token_sealed text;
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
create table audit_export (
  organization_id text not null primary key,
  sequence integer not null
) strict, without rowid;
alter table audit_export add column announced_sequence integer not null default 0;
alter table audit_export add column announced_at integer not null default 0;
alter table identity add column former_client_id text;
create table managed (
  organization_id text not null,
  section text not null,
  name text not null,
  subject_id text,
  label text not null,
  entry text not null,
  secrets_sealed text,
  drifted_at integer,
  primary key (organization_id, section, name)
) strict, without rowid;
create index managed_subject on managed (organization_id, subject_id);

create table managed_check (
  organization_id text not null primary key,
  sequence integer not null
) strict, without rowid;
with recursive succession (id, ends, is_revoked) as (
  select id, coalesce(expires_at, 9007199254740991), revoked_at is not null
  from access_token
  where created_by is null or created_by not in (select id from access_token)
  union all
  select token.id,
    min(coalesce(token.expires_at, 9007199254740991), succession.ends),
    token.revoked_at is not null or succession.is_revoked
  from access_token token join succession on token.created_by = succession.id
)
update access_token set
  expires_at = nullif(succession.ends, 9007199254740991),
  revoked_at = case when succession.is_revoked
    then coalesce(access_token.revoked_at, unixepoch() * 1000) end
from succession
where succession.id = access_token.id;
create index access_token_issuer on access_token (organization_id, created_by);

update access_token set revoked_at = unixepoch() * 1000
where revoked_at is null and organization_id is not null and creator_user_id is not null
  and not exists (
    select 1 from membership
    where membership.organization_id = access_token.organization_id
      and membership.user_id = access_token.creator_user_id
  );

create table migration (name text primary key, digest text not null) strict;
insert into migration values ('0001-core.sql', '92b25351c6e2e2e2f31bc88a81fac87beee564e2ba79fae86bbd91580a65d1f6');
insert into migration values ('0002-people.sql', 'dae802ee0a516df54347f3d57d15058a474fd910620ee84ddc5a80874e6c464d');
insert into migration values ('0003-webhooks.sql', '9fda2478c8fad25fff5c7b58b301d4ae7f729c2f2becc14d19ca02d36f1479cd');
insert into migration values ('0004-directory.sql', '2d6cd1cbe4ce73585676b16dfc6d3da5076f61feb427021976223404a5da949e');
insert into migration values ('0005-connections.sql', 'f1091c19d50b5b242368799ad53936a7e74a5381c7f77293829e57ab18bb1562');
insert into migration values ('0006-connection-owner.sql', 'fa6582d19cee1d990ed6fd866abf9d8bb3b789475806e481932c9c6368668259');
insert into migration values ('0007-directory-walk.sql', 'dd0d1ffd861304fc7aaeb2157acba6975d51eb409556bf37541ae797d8ed9c2b');
insert into migration values ('0008-key-stragglers.sql', 'b65f0ff76f1db62db47af0e4ab135adb30d43d246ac18e829eb8ea53d2f7d00c');
insert into migration values ('0009-external-id-unique.sql', 'c7f0241d95d12b69a094ab60557f949bd3dbb6c9e52313962a1d7babf914807b');
insert into migration values ('0009-feed-history.sql', 'dedcdd2c3cde858eeb4a06473ad11ae69410a649631d3b610d8c2ab78503f617');
insert into migration values ('0010-account-links.sql', '5bc6bab9e2b276dc2fea87ce1c049ee5be508d763f820a933f1ae91af23d65d4');
insert into migration values ('0010-directory-request-view.sql', 'f11e4f26b5e3f54b7aee96f9faf9318f21125f54e9766d3c44f39d92fc15630a');
insert into migration values ('0011-audit-seal.sql', '48bdfbe0fe425ae328e81af506c94ddfd69a2b0848f66e5f54b96bf588374936');
insert into migration values ('0011-otherwise.sql', '5342163b9282e3203eb6b88665cd96bad2d20819968bc74bf1944a9383aaf7f2');
insert into migration values ('0011-provider-logout.sql', '035ef4f7d0d502ad998e9e61599c748eef6d44d7a11ac51f594d54f427040203');
insert into migration values ('0012-access-token.sql', 'f06ec2318b62a065bb189e79e0c09d7684398bc75e65e10e3424c10942a77062');
insert into migration values ('0013-audit-export.sql', '8ba888a18cc65faacd21024e1f60005e94aa7787df29638b9bee9d00624a096d');
insert into migration values ('0014-audit-head-announced.sql', '66b0140fae0b0f6b0c1f10374700813d11798dce739686d2dd75d2d7c8b2efc9');
insert into migration values ('0015-identity-client.sql', 'f01827352087935db2b30a29244d95f3ecf40410c3749ae61ca9e63b37c10a5b');
insert into migration values ('0016-managed.sql', 'f70861809e4e2f3d1e4ac2eaff62fa3f1571f619d82ec4ff33584369b7a650cf');
insert into migration values ('0017-token-succession.sql', '7d1afba0749ae7843b24ba4f53943d674019b8972c68d915bb2d420467a3dc30');
