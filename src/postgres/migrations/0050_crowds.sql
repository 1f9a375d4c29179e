-- Dead letters and cancelled deliveries of an organization that has had too many subscriptions to search each.
create index finished_deliveries_in_trouble_of_organization
  on finished_deliveries (organization_id, state, id desc) where state <> 'delivered';
