package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"publisher/events"
)

func main() {
	organization := os.Getenv("ORGANIZATION")
	publisher := &events.Publisher{BaseURL: os.Getenv("OPERATOR_API"), Token: os.Getenv("TOKEN"), Delay: time.Millisecond}
	ctx := context.Background()

	state := "sent"
	shipped := events.ParcelShipped{
		Parcel:  "p",
		Count:   1,
		Address: events.ParcelShippedAddress{City: "Bonn"},
		Items:   []events.ParcelShippedItemsItem{{Sku: "a"}},
		State:   &state,
	}
	one, err := publisher.Publish(ctx, events.NewEvent{Organization: organization, Data: shipped})
	if err != nil {
		panic(err)
	}
	fmt.Println(one.EventID, one.Duplicate)

	two, err := publisher.PublishAll(ctx, []events.NewEvent{
		{Organization: organization, Data: events.NoteAddedV2{}},
		{Organization: organization, Data: events.NoteAddedV2{}, DedupeKey: "second"},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(two), two[0].Duplicate || two[1].Duplicate)

	long := strings.Repeat("k", 256)
	_, err = publisher.Publish(ctx, events.NewEvent{Organization: organization, Data: events.NoteAddedV2{}, DedupeKey: long})
	var refused *events.PublishError
	if errors.As(err, &refused) {
		fmt.Println("refused", refused.Status)
	}
}
