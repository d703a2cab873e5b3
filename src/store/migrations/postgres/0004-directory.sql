-- An organization's directory: what numbers its users and groups, in the order in which they came.
create table directory (
  organization_id text collate "C" primary key references organization (id),
  next_position bigint not null default 1,
  last_request_at bigint
);

create table directory_token (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  name text collate "C" not null,
  digest text collate "C" not null unique,
  hint text collate "C" not null,
  created_at bigint not null,
  created_by text collate "C",
  last_used_at bigint,
  last_used_address text collate "C",
  last_used_agent text collate "C",
  revoked_at bigint,
  revoked_by text collate "C"
);
create index directory_token_organization on directory_token (organization_id, id);

-- A user of the directory; its id is that of the membership. `attributes` is what SCIM answers, `folded` the same as
-- filters compare it: lower case where case does not matter, times and booleans as integers.
create table directory_user (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  user_id text collate "C" not null references "user" (id),
  position bigint not null,
  user_name_key text collate "C" not null,
  external_id text collate "C",
  active bigint not null check (active in (0, 1)),
  attributes text collate "C" not null,
  folded jsonb not null,
  version bigint not null default 1,
  created_at bigint not null,
  modified_at bigint not null,
  -- An externalId belongs to one user. Users that shared one before this rule are each marked with their own id.
  shared_external_id text collate "C" not null default ''
);
create unique index directory_user_position on directory_user (organization_id, position);
create unique index directory_user_name on directory_user (organization_id, user_name_key);
create unique index directory_user_external on directory_user (organization_id, external_id, shared_external_id)
where external_id is not null;
create index directory_user_person on directory_user (user_id);

create table directory_email (
  organization_id text collate "C" not null,
  value_key text collate "C" not null,
  directory_user_id text collate "C" not null,
  primary key (organization_id, value_key, directory_user_id)
);
create index directory_email_user on directory_email (directory_user_id);

-- Who was deleted by the directory: comes back as the same member when the directory sends the same externalId.
create table directory_departed (
  organization_id text collate "C" not null,
  external_id text collate "C" not null,
  directory_user_id text collate "C" not null,
  user_id text collate "C" not null,
  departed_at bigint not null,
  primary key (organization_id, external_id)
);

create table directory_group (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  position bigint not null,
  display_name_key text collate "C" not null,
  external_id text collate "C",
  attributes text collate "C" not null,
  folded jsonb not null,
  role text collate "C" check (role in ('admin', 'developer', 'viewer')),
  members bigint not null default 0,
  version bigint not null default 1,
  created_at bigint not null,
  modified_at bigint not null
);
create unique index directory_group_position on directory_group (organization_id, position);
create index directory_group_name on directory_group (organization_id, display_name_key);
create index directory_group_external on directory_group (organization_id, external_id) where external_id is not null;

create table directory_member (
  group_id text collate "C" not null,
  directory_user_id text collate "C" not null,
  organization_id text collate "C" not null,
  primary key (group_id, directory_user_id)
);
create index directory_member_user on directory_member (directory_user_id, group_id);

-- How many users or groups sit in each range of positions: totals and jumps without counting rows.
create table directory_count (
  organization_id text collate "C" not null,
  kind text collate "C" not null check (kind in ('user', 'group')),
  bucket bigint not null,
  amount bigint not null,
  primary key (organization_id, kind, bucket)
);

-- Where the pages of an index walk ended, so that its next page begins there whoever was deleted meanwhile.
create table directory_walk (
  token_id text collate "C" not null,
  query_digest text collate "C" not null,
  next_index bigint not null,
  next_place text collate "C" not null,
  previous_index bigint,
  previous_place text collate "C",
  at bigint not null,
  primary key (token_id, query_digest)
);

-- What the directory asked and what we did; bounded, without secrets.
create table directory_request (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  token_id text collate "C" not null,
  at bigint not null,
  method text collate "C" not null,
  path text collate "C" not null,
  status bigint not null,
  scim_type text collate "C",
  detail text collate "C",
  sent text collate "C",
  duration_us bigint not null,
  address text collate "C",
  agent text collate "C",
  -- What was passed over of the request (a JSON list of names).
  ignored text collate "C",
  -- The user or group that the request was about.
  resource_id text collate "C",
  primary key (organization_id, id)
);
