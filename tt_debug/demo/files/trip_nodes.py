"""The nodes of the demo's workflows: deterministic, offline, no keys.

`read_budget` is wrong on purpose: it takes the amount for the whole stay as the amount for one night.
"""

import os
import re
import time

PLACES = {"京都": "temples", "奈良": "deer park", "宇治": "tea houses", "大阪": "street food"}
TRAINS = [{"name": "Hikari 503", "hours": 2.7, "price": 13_320}, {"name": "Nozomi 19", "hours": 2.2, "price": 13_970}]
HOTELS = [
    {"name": "Grand Imperial", "per_night": 88_000, "rating": 4.9},
    {"name": "Ryokan 銀閣", "per_night": 31_500, "rating": 4.7},
    {"name": "Capsule Nijo", "per_night": 6_200, "rating": 3.8},
]


def _work(weight=0.5):
    """A node takes a moment, so that a person can watch it. The pace is a factor; the tests set it to 0."""
    time.sleep(weight * float(os.environ.get("TT_DEBUG_DEMO_PACE", "0.6")))


def _say(state, role, content, **more):
    messages = list(state.get("messages", []))
    messages.append({"id": f"m{len(messages) + 1}", "role": role, "content": content, **more})
    return messages


def read_request(state, ctx):
    _work()
    nights = int(re.search(r"(\d+) nights", state["request"]).group(1))
    ctx.log(f"{nights} nights")
    return {"nights": nights, "messages": _say(state, "human", state["request"])}


def plan_days(state):
    _work()
    todo = list(PLACES)[: state["nights"] + 1]
    reply = "I will look up what to see in " + ", ".join(todo) + " and then find a train and a hotel. 🙂"
    return {"todo": todo, "places": [], "messages": _say(state, "ai", reply)}


def search(state, ctx):
    _work(1.6)
    place = state["todo"][0]
    ctx.log(f"search {place}")
    found = ctx.effect("search", lambda: PLACES[place], {"q": f"{place} sights"}, cls="repeatable")
    call = {"name": "search", "args": {"q": f"{place} sights"}, "id": f"call-{ctx.visit}"}
    return {"found": found, "messages": _say(state, "ai", "", tool_calls=[call])}


def note(state):
    _work(0.2)
    place, *rest = state["todo"]
    messages = _say(state, "tool", f"{place}: {state['found']}", name="search")
    return {"todo": rest, "places": [*state["places"], place], "messages": messages}


def pick_dates(state):
    _work()
    return {"dates": {"from": "2026-11-14", "nights": state["nights"]}}


def check_trains(state, ctx):
    _work(1.1)
    trains = ctx.effect("timetable", lambda: TRAINS, {"from": state["dates"]["from"]}, cls="repeatable")
    ctx.log(f"{len(trains)} trains")
    return {"trains": trains}


def pick_train(state):
    _work()
    train = min(state["trains"], key=lambda one: one["hours"])
    return {"train": train, "messages": _say(state, "ai", f"{train['name']} is the fastest train.")}


def collect_hotels(state):
    _work(2.3)
    return {"hotels": HOTELS}


def read_budget(state):
    _work(0.7)
    total = int(re.search(r"¥([\d,]+)", state["request"]).group(1).replace(",", ""))
    return {"budget": {"total": total, "per_night": total}}


def rank_hotels(state, ctx):
    _work()
    limit = state["budget"]["per_night"]
    fitting = [hotel for hotel in state["hotels"] if hotel["per_night"] <= limit]
    ctx.log(f"{len(fitting)} of {len(state['hotels'])} hotels cost at most {limit} a night")
    return {"ranking": sorted(fitting, key=lambda hotel: -hotel["rating"])}


def choose_hotel(state):
    _work(0.9)
    hotel = state["ranking"][0]
    return {"hotel": hotel, "messages": _say(state, "ai", f"{hotel['name']} is the best hotel within the budget.")}


def reserve_hotel(state, ctx):
    _work(1.8)
    hotel = state["hotel"]["name"]
    ctx.log(f"reserve {hotel}")
    call = {"name": "reserve", "args": {"hotel": hotel, "nights": state["nights"]}, "id": "call-reserve"}
    request = {"hotel": hotel, "nights": state["nights"]}
    # An option costs nothing and lapses by itself: a fork with another hotel may ask for another one.
    reservation = ctx.effect("option", lambda key: "R-2041", request, cls="repeatable")
    return {"reservation": reservation, "messages": _say(state, "ai", "", tool_calls=[call])}


def invoice(state, ctx):
    _work()
    cost = state["hotel"]["per_night"] * state["nights"]
    ctx.effect("tax", lambda: "included", {"city": state["places"][0]}, cls="repeatable")
    return {"cost": cost, "messages": _say(state, "tool", f"invoice ¥{cost:,}", name="reserve")}


def check_total(state):
    _work()
    over = state["cost"] - state["budget"]["total"]
    verdict = f"OVER BUDGET by {over} yen" if over > 0 else "within the budget"
    return {"verdict": verdict, "messages": _say(state, "ai", f"The stay is {verdict}.")}


def fetch_quote(state, ctx):
    _work(1.2)
    ctx.log("the supplier's gate answers HTTP 403")
    raise PermissionError("HTTP 403 from quotes.example: the key has expired")


def draft_offer(state):
    _work()
    return {"offer": {"hotel": "Ryokan 銀閣", "price": 94_500}}


def send_offer(state, ctx):
    _work()
    approved = bool(state["approve_offer"].get("approved"))
    if approved:  # a mail goes out once: whether it did is never guessed
        ctx.effect(
            "mail", lambda key: {"message_id": key}, {"to": state["customer"], **state["offer"]}, cls="at_most_once"
        )
    return {"sent": approved, "outcome": "sent ✉️" if approved else "not sent"}
