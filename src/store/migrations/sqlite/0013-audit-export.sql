-- How far each chain of the audit log has been sent to a collector.
create table audit_export (
  organization_id text not null primary key,
  sequence integer not null
) strict, without rowid;
