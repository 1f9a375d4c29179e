export RECEIVER_URL=https://…    # where we send deliveries
