-- What a configuration file owns of an organization, as the file was last applied.
create table managed (
  organization_id text collate "C" not null,
  section text collate "C" not null,
  name text collate "C" not null,
  -- Null: it waits for something that others make, such as a group of the directory.
  subject_id text collate "C",
  label text collate "C" not null,
  entry text collate "C" not null,
  secrets_sealed text collate "C",
  -- Since when the thing differs from its entry; announced once.
  drifted_at bigint,
  primary key (organization_id, section, name)
);
create index managed_subject on managed (organization_id, subject_id);

-- Up to which audit entry an organization's managed things were compared with their entries.
create table managed_check (
  organization_id text collate "C" not null primary key,
  sequence bigint not null
);
