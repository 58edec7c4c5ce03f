#include "replay/fields/event_window.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

EventTable three_events() {
  EventTable events;
  for (const char* name : {"on", "off", "other"}) {
    EventDesc event;
    event.name = name;
    events.add(event);
  }
  return events;
}

std::string shown(EventWindow& chosen, std::string_view events) {
  std::string text;
  for (char event : events)
    if (chosen.shows(EventId(size_t{event == 'n' ? 0u : event == 'f' ? 1u : 2u}))) text += event;
  return text;
}

TEST(EventWindow, ShowsWhatLiesBetween) {
  EventTable events = three_events();
  auto both = EventWindow::make({"on", "off", false}, events, "sonde");
  ASSERT_TRUE(both);
  EXPECT_EQ(shown(*both, "ofonoonofoofno"), "oonoo");  // a second "on" is an ordinary sample
  auto with_switches = EventWindow::make({"on", "off", true}, events, "sonde");
  ASSERT_TRUE(with_switches);
  EXPECT_EQ(shown(*with_switches, "ofonoonofoofno"), "noonofno");
  auto off = EventWindow::make({"", "off", false}, events, "sonde");
  ASSERT_TRUE(off);
  EXPECT_EQ(shown(*off, "onofon"), "ono");
  EventWindow none;
  EXPECT_EQ(shown(none, "onof"), "onof");
}

TEST(EventWindow, NamesTheEventThatIsNotThere) {
  auto bad = EventWindow::make({"", "of", false}, three_events(), "sonde");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message,
            "ERROR: switch-off event not found (of)\nHINT:  use 'sonde evlist' to see the "
            "available event names");
}

}  // namespace
}  // namespace sonde
