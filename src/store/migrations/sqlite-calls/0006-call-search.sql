-- Calls that an upstream failed: people look for them, and they are few. An index of addresses would double what it costs to
-- insert a record, since each record would change a page of its own.
create index call_failed on call (organization_id, id) where status >= 500;
