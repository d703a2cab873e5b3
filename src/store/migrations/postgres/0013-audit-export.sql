-- How far each chain of the audit log has been sent to a collector.
create table audit_export (
  organization_id text collate "C" not null primary key,
  sequence bigint not null
);
