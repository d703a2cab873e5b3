-- What people look for and few calls are: those of one address, and those that an upstream failed.
create index call_address on call (organization_id, address, id);
create index call_failed on call (organization_id, id) where status >= 500;
